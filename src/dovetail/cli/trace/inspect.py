"""`dovetail trace inspect`: what a trace looks like, before anything is simulated."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dovetail.cli.options import (
    FormatOption,
    MapOption,
    RepairOption,
    TraceArgument,
    columns_in,
    names_in,
)
from dovetail.domain.units import UNKNOWN, count, duration, factor, share

if TYPE_CHECKING:
    from rich.console import Console

SHOWN = 8
"""Partitions and GPU types listed; the JSON has them all."""


def trace_inspect(
    trace: TraceArgument,
    format: FormatOption = None,
    repair: RepairOption = "",
    map: MapOption = "",
    json: Annotated[bool, typer.Option("--json", help="Print all figures as JSON.")] = False,
) -> None:
    """Show a trace's size, job sizes, run times, waits, limits and notes.

    \b
    Example:
      dovetail trace inspect history.parquet
    """
    from dovetail.api import load_trace
    from dovetail.cli.files import json_text
    from dovetail.cli.screen import results
    from dovetail.prediction import prediction_error
    from dovetail.traces.description import describe

    history = load_trace(
        trace,
        format=format,
        repair=names_in(repair, "--repair"),
        columns=columns_in(map) or None,
    )
    error = prediction_error(history.jobs, history.jobs.recorded_start)
    found = {**describe(history), "prediction_error": asdict(error)}
    if json:
        typer.echo(json_text(found), nl=False)
    else:
        _show({**found, "prediction": str(error)}, results())


def _show(found: dict[str, Any], console: Console) -> None:
    from dovetail.cli.screen import facts, print_notes

    console.print(
        facts(
            [
                ("trace", f"{found['name']} (digest {found['digest']})"),
                ("jobs", f"{found['jobs']:,} over {duration(found['span_seconds'])}"),
                ("users", count(found["users"])),
                ("GPU hours", f"{found['gpu_hours']:,.0f}"),
                ("GPUs asked for", _demand(found["offered_gpu_hours_per_hour"])),
                ("GPUs per job", f"mean {found['gpus']['mean']:.1f}, max {found['gpus']['max']}"),
                ("arrivals", _arrivals(found["interarrival_cv"])),
                ("time limits", _limits(found["limits"])),
                ("if predicted", found["prediction"]),
                ("partitions", _shares(found["partitions"])),
                ("GPU types", _shares(found["gpu_types"])),
            ]
        )
    )
    console.print()
    console.print(_spreads(found))
    console.print()
    console.print(_sizes(found["sizes"]))
    print_notes(found["notes"])


def _arrivals(variation: float | None) -> str:
    return UNKNOWN if variation is None else f"variation {factor(variation)} (Poisson: 1)"


def _demand(gpus: float | None) -> str:
    return UNKNOWN if gpus is None else f"{gpus:,.0f} at any time, on average"


def _limits(limits: dict[str, float | None]) -> str:
    known, used = limits["known"], limits["median_run_over_limit"]
    if not known or used is None:
        return "none known"
    return f"{share(known)} of jobs; the median job uses {share(used)} of its limit"


def _shares(shares: dict[str, float]) -> str:
    if not shares:
        return "none named"
    words = [f"{name} {share(part)}" for name, part in list(shares.items())[:SHOWN]]
    more = len(shares) - SHOWN
    return ", ".join(words) + (f" and {more} more" if more > 0 else "")


def _spreads(found: dict[str, Any]) -> Any:
    from dovetail.cli.screen import columns

    marks = ("mean", "p5", "p25", "p50", "p75", "p95", "p99", "max")
    table = columns("", *marks, right=marks)
    for label, key in (("run time", "run_seconds"), ("recorded wait", "recorded_wait_seconds")):
        if found[key] is not None:
            table.add_row(label, *(duration(found[key][mark]) for mark in marks))
    return table


def _sizes(sizes: list[dict[str, Any]]) -> Any:
    from dovetail.cli.screen import columns

    table = columns("GPUs", "jobs", "GPU time", right=("GPUs", "jobs", "GPU time"))
    for row in sizes:
        table.add_row(row["gpus"], share(row["jobs"]), share(row["gpu_time"]))
    return table
