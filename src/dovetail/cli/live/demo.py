"""`dovetail live demo`: the daemon on a cluster in memory, to see what it does."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def live_demo(
    cycles: Annotated[
        int, typer.Option("--cycles", metavar="N", min=1, help="Minutes of the cluster's time.")
    ] = 20,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Draws other jobs.")] = 0,
    folder: Annotated[
        Path | None,
        typer.Option(
            "--folder",
            metavar="DIR",
            help="Keep the journal there.",
            show_default="a temporary one",
        ),
    ] = None,
) -> None:
    """Run the whole daemon in active mode on generated jobs: no Slurm, no root, nothing installed.

    One line per cycle, then the journal, some changes with their reasons, and the metrics.

    \b
    Example:
      dovetail live demo
    """
    import tempfile

    from dovetail.cli.live.log import log_to_stderr
    from dovetail.cli.plain import one_line
    from dovetail.cli.screen import warn_of_compiling
    from dovetail.live.service.demo import run_demo

    log_to_stderr()
    warn_of_compiling()
    with tempfile.TemporaryDirectory() as temporary:
        place = folder or Path(temporary)
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        for line in run_demo(place, cycles, seed):
            typer.echo(one_line(line))
    if folder is not None:
        typer.echo(f"the journal is in {folder}; see `dovetail live replay --help`")
