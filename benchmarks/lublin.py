"""RLScheduler's protocol on the Lublin model: what a sign error did to two published baselines.

    python -m benchmarks.run lublin

10 windows of 1,024 jobs from a trace of 10,000 on 256 processors, each from an idle cluster, no
backfilling, exact run times, mean bounded slowdown. The trace published there is one draw of the
model; here the protocol runs on ten draws of our generator, and the range over them is shown.

Jobs of the published trace (lublin_256.swf) come every 771 s on average, those of our generator
every 1,015 s: arrivals are scaled to 771 s, which asks for about all the processors there are.

Every policy runs under two rules. Committed, as there: a job once chosen is waited for, though
better ones arrive meanwhile. Free, as in our simulator and in Slurm: at every event the best job
goes first, whoever was blocked before.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.committing import committed_waits
from benchmarks.published_errors import UNICEP_AS_PUBLISHED, WFP3_AS_PUBLISHED
from dovetail.domain.cluster import Cluster
from dovetail.domain.jobs import Floats
from dovetail.domain.metrics import bounded_slowdown
from dovetail.domain.policy import Backfill, Ordering
from dovetail.domain.trace import Trace
from dovetail.policies.ordering import ORDERINGS
from dovetail.policies.placement import PLACEMENTS
from dovetail.prediction.estimates import make_estimates
from dovetail.simulator import simulate
from dovetail.traces.split import windows
from dovetail.traces.synthetic import LublinWorkload, offered_load, synthesize

PROCESSORS = 256
JOBS = 10_000
GAP = 771.0
"""Seconds between submissions in the published trace, on average."""

WRONG = " as published"
TRACES, WINDOWS, LENGTH = 10, 10, 1024

POLICIES: dict[str, Ordering] = {
    "FCFS": ORDERINGS["fcfs"],
    "SJF": ORDERINGS["sjf"],
    "F1": ORDERINGS["f1"],
    "SAF": ORDERINGS["saf"],
    "WFP3": ORDERINGS["wfp3"],
    "WFP3 as published": WFP3_AS_PUBLISHED,
    "UNICEP": ORDERINGS["unicep"],
    "UNICEP as published": UNICEP_AS_PUBLISHED,
}
THERE = {
    # with the published code on the published trace
    "FCFS": 7_909,
    "SJF": 258,
    "F1": 241,
    "WFP3": 318,
    "WFP3 as published": 19_448,
    "UNICEP": 335,
    "UNICEP as published": 22_125,
}
PRINTED = {"WFP3 as published": 19_754, "UNICEP as published": 22_275}
"""In the paper's own table."""


def draw(seed: int) -> Trace:
    """Jobs of the model that arrive as often as in the published trace."""
    workload = LublinWorkload(processors=PROCESSORS)
    plain = synthesize(workload, JOBS, seed)
    gap = float(np.mean(np.diff(plain.jobs.submit)))
    load = offered_load(plain.jobs, PROCESSORS) * gap / GAP
    return synthesize(workload, JOBS, seed, load)


def protocol(
    trace: Trace, seed: int, waits: Callable[[Trace, Ordering], Floats]
) -> dict[str, float]:
    """Mean over the windows of the mean bounded slowdown, for every policy."""
    parts = [trace.slice(at, at + LENGTH) for at in windows(trace, WINDOWS, LENGTH, seed)]
    return {
        name: statistics.mean(
            float(bounded_slowdown(waits(part, ordering), part.jobs.run).mean()) for part in parts
        )
        for name, ordering in POLICIES.items()
    }


def committed(trace: Trace, ordering: Ordering) -> Floats:
    return committed_waits(trace, PROCESSORS, ordering)


def free(trace: Trace, ordering: Ordering) -> Floats:
    exact = make_estimates(trace, "exact")
    cluster, place = Cluster.parse(f"{PROCESSORS}x1"), PLACEMENTS["first-available"]
    return simulate(trace, cluster, ordering, place, Backfill.NONE, exact).wait


def summarise(found: list[dict[str, float]], name: str) -> dict[str, float]:
    """Mean and range over the draws of the trace."""
    values = [one[name] for one in found]
    return {
        "mean": round(statistics.mean(values), 1),
        "low": round(min(values), 1),
        "high": round(max(values), 1),
    }


def markdown(rows: list[dict[str, Any]]) -> str:
    """The table, as a README shows it."""
    lines = [
        "| policy | committed | range | free | range | there, measured | there, printed |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for row in rows:
        cells = [row["policy"]]
        for rule in ("committed", "free"):
            found = row[rule]
            cells += [f"{found['mean']:,.0f}", f"{found['low']:,.0f} – {found['high']:,.0f}"]
        cells += [_number(row[key]) for key in ("there_measured", "there_printed")]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:,}"


def cost_of_error(rows: list[dict[str, Any]], name: str) -> dict[str, float]:
    """How many times as large the slowdown is as published, under both rules and there."""
    right, wrong = (next(r for r in rows if r["policy"] == n) for n in (name, f"{name}{WRONG}"))
    times = {rule: wrong[rule]["mean"] / right[rule]["mean"] for rule in ("committed", "free")}
    times["there"] = THERE[f"{name}{WRONG}"] / THERE[name]
    return {rule: round(value, 1) for rule, value in times.items()}


def run(say: Callable[[str], None] = print) -> dict[str, Any]:
    traces = [draw(seed) for seed in range(TRACES)]
    held = [protocol(trace, seed, committed) for seed, trace in enumerate(traces)]
    loose = [protocol(trace, seed, free) for seed, trace in enumerate(traces)]
    rows: list[dict[str, Any]] = [
        {
            "policy": name,
            "committed": summarise(held, name),
            "free": summarise(loose, name),
            "there_measured": THERE.get(name),
            "there_printed": PRINTED.get(name),
        }
        for name in POLICIES
    ]
    say(markdown(rows))
    errors = {name: cost_of_error(rows, name) for name in ("WFP3", "UNICEP")}
    say(f"slowdown as published over slowdown as it should be: {errors}")
    loads = [offered_load(trace.jobs, PROCESSORS) for trace in traces]
    say(f"offered load {min(loads):.2f} to {max(loads):.2f}")
    return {
        "jobs": JOBS,
        "windows": WINDOWS,
        "length": LENGTH,
        "draws": TRACES,
        "offered_load": [round(load, 3) for load in loads],
        "policies": rows,
        "as_published_over_right": errors,
    }


if __name__ == "__main__":
    print(json.dumps(run(lambda line: print(line, file=sys.stderr)), indent=2))
