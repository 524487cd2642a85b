"""`dovetail live restore`: give every job back to Slurm, after whatever happened to the daemon."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dovetail.cli.live.options import ConfigOption, daemon_config

NOT_RESTORED = 1


def live_restore(
    config: ConfigOption = Path("/etc/dovetail/dovetail.toml"),
    every: Annotated[
        bool,
        typer.Option(
            "--all", help="Set every site factor to 0, whoever set it: when the journal is lost."
        ),
    ] = False,
) -> None:
    """Put back every job that the journal says was touched, and check that it is so.

    \b
    Example:
      dovetail live restore --config dovetail.toml
    """
    from dovetail.cli.plain import one_line

    settings = daemon_config(config)
    from dovetail.live.backends import BACKENDS
    from dovetail.live.cycle.actuator import Actuator, Clocks
    from dovetail.live.journal import Journal
    from dovetail.live.ledger import Ledger

    backend = BACKENDS[settings.slurm.backend](settings.slurm)
    with Journal.open(settings.journal) as journal:
        snapshot = backend.read()
        actuator = Actuator(backend, Ledger(journal), Clocks())
        restored = actuator.reset_all(snapshot) if every else actuator.put_back(snapshot)
    typer.echo(f"{restored}")
    for result in restored.left:
        typer.echo(one_line(f"job {result.change.label}: {result.error}"), err=True)
    if restored.left:
        raise typer.Exit(NOT_RESTORED)
