"""`dovetail live doctor`: everything that the daemon needs, checked without changing anything."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dovetail.cli.plain import one_line

CONFIG = Path("/etc/dovetail/dovetail.toml")


def live_doctor(
    config: Annotated[
        Path, typer.Option("--config", metavar="FILE", help="The daemon's configuration.")
    ] = CONFIG,
) -> None:
    """Check Slurm, the rights, the folders and the policy; run it as the daemon's user.

    Ends with 1 if there is a problem, with 0 if there are only warnings.

    \b
    Example:
      dovetail live doctor --config /etc/dovetail/dovetail.toml
    """
    from dovetail.live.doctor import Level, collect, examine

    found = list(examine(collect(config)))
    for checkup in found:
        typer.echo(f"{checkup.level.value:<8} {checkup.name}: {one_line(checkup.message)}")
        if checkup.fix:
            typer.echo(f"{'':8} → {one_line(checkup.fix)}")
    counts = {level: sum(item.level is level for item in found) for level in Level}
    typer.echo(
        f"\n{counts[Level.PROBLEM]} problems, {counts[Level.WARNING]} warnings, "
        f"{counts[Level.OK]} ok"
    )
    if counts[Level.PROBLEM]:
        raise typer.Exit(1)
