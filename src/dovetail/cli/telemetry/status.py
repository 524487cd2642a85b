"""`dovetail telemetry status`: which running jobs hold idle GPUs, since when, and what it costs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dovetail.telemetry import IdleHolding
    from dovetail.telemetry.check import Checked
    from dovetail.telemetry.holdings import RunningJob
    from dovetail.telemetry.idle import IdleWatch
    from dovetail.telemetry.sources import Source


def telemetry_status(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE",
            help="prometheus:URL, exporter:URL[,URL...], nvml (this node) or csv:FILE.",
        ),
    ],
    config: Annotated[
        Path | None,
        typer.Option(
            "--config", metavar="FILE", show_default=False,
            help="The daemon's configuration: ask Slurm who holds which GPUs.",
        ),
    ] = None,
    history: Annotated[
        float,
        typer.Option("--history", metavar="HOURS", min=0.0, help="How far Prometheus looks back."),
    ] = 24.0,
    below: Annotated[
        float, typer.Option("--below", metavar="PERCENT", help="A GPU used less is idle.")
    ] = 5.0,
    after: Annotated[
        float, typer.Option("--after", metavar="MINUTES", help="Idle for at least so long.")
    ] = 10.0,
    price: Annotated[
        float | None,
        typer.Option("--price", metavar="AMOUNT", help="Of one GPU hour.", show_default=False),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:  # fmt: skip
    """Show which running jobs hold GPUs that do nothing, since when, and what that costs.

    Exporters often say which job has a GPU (hpc_job, nvidia_gpu_jobId); where they do not, --config
    lets Slurm be asked. Only Prometheus and recordings know the past: others say what is idle now.

    \b
    Example:
      dovetail telemetry status prometheus:http://prometheus:9090 --price 2.5
    """
    from dovetail.telemetry import IdleRule, IdleWatch, open_source
    from dovetail.telemetry.monitor import who_holds
    from dovetail.telemetry.sources import RemembersBusy, Replays

    opened = open_source(source)
    # Who holds a GPU now and lets it rest is worth a line, even where nobody knows since when.
    remembers = isinstance(opened, RemembersBusy | Replays)
    watch = IdleWatch(IdleRule(below / 100.0, after * 60.0 if remembers else 0.0))
    checked = _observe(opened, watch, history)
    held = who_holds(checked.readings, _running(config))
    idle = watch.holdings(held, checked.readings.time)
    if as_json:
        _print_json(checked, idle, len(held), price)
    else:
        _print(checked, idle, bool(held), price)


def _observe(source: Source, watch: IdleWatch, history: float) -> Checked:
    """Let the watch see all that the source knows; the last reading, checked."""
    from dovetail.telemetry import check
    from dovetail.telemetry.sources import RemembersBusy, Replays

    if isinstance(source, Replays):
        checked = None
        for readings in source.replay():
            checked = check(readings)
            watch.observe(checked.readings)
        assert checked is not None  # a recording without readings is refused
        return checked
    checked = check(source.read())
    if isinstance(source, RemembersBusy) and history > 0:
        watch.remember(source.last_busy(watch.rule.below, history), checked.readings.time)
    watch.observe(checked.readings)
    return checked


def _running(config: Path | None) -> Sequence[RunningJob]:
    if config is None:
        return ()
    from dovetail.cli.live.options import daemon_config
    from dovetail.live.backends import BACKENDS

    settings = daemon_config(config)
    return BACKENDS[settings.slurm.backend](settings.slurm).read().running


def _print(
    checked: Checked, idle: Sequence[IdleHolding], anybody: bool, price: float | None
) -> None:
    from dovetail.cli.plain import cell
    from dovetail.cli.screen import columns, facts, results

    console = results()
    hours = sum(each.hours for each in idle)
    told = (
        f"{sum(each.idle for each in idle)} GPUs of {len(idle)} running jobs, {hours:.1f} GPU hours"
    )
    if not anybody:
        told = "not known who holds which GPU: no label names jobs; --config lets Slurm be asked"
    elif price is not None:
        told += f", {hours * price:,.2f} at {price:g} an hour"
    console.print(facts([("readings", checked.sentence()), ("held idle", told)]))
    if not idle:
        return
    table = columns("job", "user", "idle", "held", "since", "GPU hours", "nodes",
                    right=("idle", "held", "GPU hours"))  # fmt: skip
    for each in idle:
        who = f"one of {', '.join(each.among)}" if each.among else each.job
        table.add_row(
            cell(who), cell(each.user), str(each.idle), str(each.held), _when(each.since),
            f"{each.hours:.1f}", cell(", ".join(each.hosts)),
        )  # fmt: skip
    console.print()
    console.print(table)


def _when(at: float) -> str:
    import time

    return time.strftime("%Y-%m-%d %H:%M", time.localtime(at))


def _print_json(
    checked: Checked, idle: Sequence[IdleHolding], held: int, price: float | None
) -> None:
    from dovetail.cli.files import json_text

    faults: dict[str, Any] = {}
    for (fault, quantity), number in checked.faults.items():
        faults.setdefault(fault.value, {})[quantity] = number
    hours = sum(each.hours for each in idle)
    typer.echo(
        json_text(
            {
                "time": checked.readings.time,
                "gpus": len(checked.readings),
                "good_readings": checked.good,
                "faults": faults,
                "unreadable": dict(checked.readings.unreadable),
                "holdings": held,
                "idle": [each._asdict() for each in idle],
                "idle_gpu_hours": hours,
                "cost": None if price is None else hours * price,
            }
        ),
        nl=False,
    )
