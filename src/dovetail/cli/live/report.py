"""`dovetail live report`: what Dovetail would have changed, by the twin, from the journal."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dovetail.cli.live.options import ConfigOption, daemon_config

if TYPE_CHECKING:
    from dovetail.domain.objective import Objective
    from dovetail.live.twin.comparison import Twin


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

    from dovetail.cli.screen import facts, results, warn_of_compiling
    from dovetail.domain.units import duration

    settings = daemon_config(config)
    warn_of_compiling()
    from dovetail.live.backends import BACKENDS
    from dovetail.live.journal import JournalReader
    from dovetail.live.twin.watch import shadow_report

    site = BACKENDS[settings.slurm.backend](settings.slurm).site()
    with JournalReader.open(Path(settings.journal.path)) as past:
        twin = shadow_report(past, settings, days or settings.twin.days, site)
    if as_json:
        typer.echo(json.dumps(asdict(twin)))
        return
    if days is not None and twin.until - twin.since < 0.9 * days * 86_400:
        typer.echo(f"the journal holds no more than {duration(twin.until - twin.since)} of that")
    results().print(
        facts(
            [
                ("jobs", f"{twin.jobs:,}, submitted within {duration(twin.until - twin.since)}"),
                ("mean wait as it was", f"{twin.recorded:,.0f} s"),
                ("by the twin, Slurm's order", f"{twin.slurm:,.0f} s"),
                ("by the twin, Dovetail's order", f"{twin.ours:,.0f} s"),
                ("difference", _difference(twin)),
                ("what the objective weighs", _wanted(settings.objective, twin)),
                ("Dovetail's order and all else that it asks", _whole(twin)),
                ("the twin is off by", f"{twin.error:.0%} of the mean wait"),
                ("single jobs differ by", f"{twin.median_error:,.0f} s in the middle"),
            ]
        )
    )
    from dovetail.cli.who_pays import print_promises, print_who_pays

    print_who_pays(results(), twin.groups, "Slurm's order and Dovetail's, both by the twin")
    if settings.promises:
        print_promises(results(), settings.promises.check(twin.groups))


def _wanted(objective: Objective, twin: Twin) -> str:
    """Of our order, by the twin, against Slurm's."""
    from dovetail.live.twin.wanted import wanted_ratio

    ratio = wanted_ratio(objective, twin.slurm_measures, twin.our_measures)
    return f"{ratio - 1:+.0%} (below 0 is better; waits below ten minutes count as ten)"


def _whole(twin: Twin) -> str:
    """What Slurm cannot be told: to keep GPUs free, and who may not pass."""
    if math.isclose(twin.whole_policy, twin.ours):
        return "the same: an order is all that it asks"
    return f"{twin.whole_policy:,.0f} s; Slurm can be told the order alone"


def _difference(twin: Twin) -> str:
    """With its interval, or why there is none."""
    if math.isnan(twin.difference.low):
        return f"{twin.difference} s; no interval, as all jobs were submitted within one hour"
    return f"{twin.difference} s, 95 % interval over hours"
