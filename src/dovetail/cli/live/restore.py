"""`dovetail live restore`: give every job back to Slurm, after whatever happened to the daemon."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dovetail.cli.live.options import ConfigOption, daemon_config
from dovetail.cli.plain import one_line

if TYPE_CHECKING:
    from dovetail.live.ledger.restore import Restored
    from dovetail.live.ledger.unexplained import Unexplained

NOT_RESTORED = 1


def live_restore(
    config: ConfigOption = Path("/etc/dovetail/dovetail.toml"),
    ours: Annotated[
        bool,
        typer.Option(
            "--ours", help="Also reset factors that follow Dovetail's pattern, in no journal."
        ),
    ] = False,
    every: Annotated[
        bool,
        typer.Option(
            "--all", help="Set every site factor to 0, whoever set it: when the journal is lost."
        ),
    ] = False,
) -> None:
    """Put back every job that the journal says was touched, and compare with what Slurm shows.

    Ends with 1 if something could not be put back, or stands there that nobody can explain.

    \b
    Example:
      dovetail live restore --config dovetail.toml
    """
    settings = daemon_config(config)
    from dovetail.live.service.restoration import restoring

    with restoring(settings) as actuator:
        if not Path(settings.journal.path).exists():
            typer.echo(f"{settings.journal.path}: no journal; going by what Slurm shows alone")
        snapshot = actuator.backend.read()
        restored = actuator.reset_all(snapshot) if every else actuator.put_back(snapshot)
        failed = _tell(restored)
        found = actuator.left_over()
        if ours and found.ours:
            typer.echo(f"resetting the {len(found.ours):,} that follow Dovetail's pattern")
            failed = _tell(actuator.reset_ours(found, actuator.backend.read())) or failed
            found = actuator.left_over()
    _say_left(found)
    if failed or found.suspicious:
        raise typer.Exit(NOT_RESTORED)


def _tell(restored: Restored) -> bool:
    """Say what became of jobs; whether some could not be put back."""
    typer.echo(f"{restored}")
    for result in restored.left:
        typer.echo(one_line(f"job {result.change.label}: {result.error}"), err=True)
    return bool(restored.left)


def _say_left(found: Unexplained) -> None:
    typer.echo(f"in the queue now: {found}")
    if found.ours:
        typer.echo("→ `dovetail live restore --ours` resets exactly these", err=True)
    if found.unknown:
        typer.echo(
            "→ look at them with `sprio -l`: an operator's own stay; `--all` resets every one",
            err=True,
        )
    if found.suspicious and found.hidden:
        typer.echo(
            f"→ of {len(found.hidden):,} held or not yet eligible jobs Slurm does not tell the "
            "factor; `--all` reaches them, too",
            err=True,
        )
