"""`dovetail live report`: what Dovetail would have changed, by the twin, from the journal."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dovetail.cli.live.options import ConfigOption, daemon_config


def live_report(
    config: ConfigOption = Path("/etc/dovetail/dovetail.toml"),
    days: Annotated[
        float | None,
        typer.Option("--days", metavar="N", help="Days to look back.", show_default="twin.days"),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Replay the last days in the twin, under Slurm's order and under ours, and compare.

    \b
    Example:
      dovetail live report --config dovetail.toml --days 7
    """
    import json
    from dataclasses import asdict

    from dovetail.cli.screen import facts, results

    settings = daemon_config(config)
    from dovetail.live.backends import BACKENDS
    from dovetail.live.journal import JournalReader
    from dovetail.live.twin.watch import shadow_report

    slurm = BACKENDS[settings.slurm.backend](settings.slurm).settings()
    with JournalReader.open(Path(settings.journal.path)) as past:
        twin = shadow_report(past, settings, days or settings.twin.days, slurm)
    if as_json:
        typer.echo(json.dumps(asdict(twin)))
        return
    results().print(
        facts(
            [
                ("jobs", f"{twin.jobs:,}, of {(twin.until - twin.since) / 86_400:.1f} days"),
                ("mean wait as it was", f"{twin.recorded:,.0f} s"),
                ("by the twin, Slurm's order", f"{twin.slurm:,.0f} s"),
                ("by the twin, Dovetail's order", f"{twin.ours:,.0f} s"),
                ("difference", f"{twin.difference} s, 95 % interval over hours"),
                ("the twin is off by", f"{twin.error:.0%} of the mean wait"),
                ("single jobs differ by", f"{twin.median_error:,.0f} s in the middle"),
            ]
        )
    )
