"""`dovetail live doctor`: everything that the daemon needs, checked without changing anything."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import typer

from dovetail.cli.live.options import ConfigOption, daemon_config
from dovetail.cli.plain import one_line


def live_doctor(
    config: ConfigOption = Path("/etc/dovetail/dovetail.toml"),
) -> None:
    """Check Slurm, the rights, the folders and the policy; run it as the daemon's user.

    Ends with 1 if there is a problem, with 0 if there are only warnings.

    \b
    Example:
      dovetail live doctor --config /etc/dovetail/dovetail.toml
    """
    from dovetail.domain.errors import DovetailError

    with suppress(DovetailError):  # said below, as the first of all
        daemon_config(config)
    from dovetail.live.doctor import CheckLevel, collect, examine

    found = list(examine(collect(config)))
    for checkup in found:
        typer.echo(f"{checkup.level.value:<8} {checkup.name}: {one_line(checkup.message)}")
        if checkup.fix:
            typer.echo(f"{'':8} → {one_line(checkup.fix)}")
    counts = {level: sum(item.level is level for item in found) for level in CheckLevel}
    typer.echo(
        f"\n{counts[CheckLevel.PROBLEM]} problems, {counts[CheckLevel.WARNING]} warnings, "
        f"{counts[CheckLevel.OK]} ok"
    )
    if counts[CheckLevel.PROBLEM]:
        raise typer.Exit(1)
