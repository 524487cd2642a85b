"""Placements compared: SAF with EASY on congested warm windows, ratios to best-fit.

python -m benchmarks.placements
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.workloads import REAL, cluster, real_traces, synthetic
from dovetail.domain.cluster import Cluster
from dovetail.domain.estimates import Estimates
from dovetail.domain.metrics import bounded_slowdown
from dovetail.domain.policy import Backfill
from dovetail.domain.trace import Trace
from dovetail.evaluation.statistics import Interval, ratio_of_means
from dovetail.policies.ordering import ORDERINGS
from dovetail.policies.placement import PLACEMENTS
from dovetail.prediction import HISTORY
from dovetail.prediction.estimates import make_estimates
from dovetail.simulator import Simulation, simulate
from dovetail.simulator.warm import Window, warm_window

BASE = "best-fit"
QUICK = ("best-fit", "lifetime", "fgd", "rltune", "multistart")
WINDOWS, LENGTH = 6, 1000
MILP_WINDOWS = 2
"""A window takes HiGHS up to a minute: it is measured on the first ones of synthetic workloads."""

LEAST_WAIT, MOST_CARRIED = 600.0, 1500
"""Seconds waited on average, jobs carried into a window: there is a queue, and not only a queue."""


@dataclass
class Measured:
    """One placement, window by window."""

    wait: list[float] = field(default_factory=list)
    slowdown: list[float] = field(default_factory=list)
    starts: int = 0
    seconds: float = 0.0
    asked: int = 0
    planned: int = 0
    refused: int = 0


def congested_windows(trace: Trace, site: Cluster, told: Estimates) -> list[Window]:
    """Windows with a queue, spread evenly over the trace, as best-fit leaves the cluster."""
    base = simulate(trace, site, ORDERINGS["saf"], PLACEMENTS[BASE], Backfill.EASY, told, HISTORY)
    wait = np.nan_to_num(base.wait)
    firsts = [
        first
        for first in range(LENGTH, len(trace) - LENGTH, LENGTH // 2)
        if wait[first : first + LENGTH].mean() >= LEAST_WAIT
    ]
    windows = [warm_window(base, first, LENGTH) for first in _spread(firsts, 4 * WINDOWS)]
    return _spread([window for window in windows if window.carried <= MOST_CARRIED], WINDOWS)


def _spread(items: list[Any], count: int) -> list[Any]:
    at = np.unique(np.linspace(0, len(items) - 1, min(count, len(items))).astype(int))
    return [items[i] for i in at.tolist()]


def play(window: Window, site: Cluster, told: Estimates, name: str, into: Measured) -> None:
    assert told.seconds is not None
    seconds = Estimates(told.name, told.seconds[window.rows])
    simulation = Simulation(
        window.trace, site, ORDERINGS["saf"], PLACEMENTS[name], Backfill.EASY, seconds, warm=window
    )
    began = time.process_time()  # of one thread: neighbours on the machine do not count
    while simulation.advance(1000):
        pass
    into.seconds += time.process_time() - began
    schedule = simulation.schedule()
    own = window.own & schedule.ran
    into.wait.append(float(schedule.wait[own].mean()))
    into.slowdown.append(float(bounded_slowdown(schedule.wait[own], schedule.run[own]).mean()))
    into.starts += int(schedule.ran.sum() - np.isfinite(window.start).sum())
    if simulation.planner is not None:
        into.asked += simulation.planner.asked
        into.planned += simulation.planner.planned
        into.refused += simulation.planner.refused


def told_of(found: Measured, base: Measured) -> dict[str, Any]:
    """Means, ratios to best-fit on the same windows with 95 % intervals, and the cost."""
    count = len(found.wait)
    row: dict[str, Any] = {
        "windows": count,
        "wait_mean": round(float(np.mean(found.wait)), 1),
        "bsld_mean": round(float(np.mean(found.slowdown)), 2),
        "wait_ratio": _rounded(ratio_of_means(found.wait, base.wait[:count])),
        "bsld_ratio": _rounded(ratio_of_means(found.slowdown, base.slowdown[:count])),
        "starts_per_cpu_second": round(found.starts / found.seconds),
    }
    if found.asked:
        row["asked"], row["planned"], row["refused"] = found.asked, found.planned, found.refused
        row["cpu_milliseconds_per_plan"] = round(1000 * found.seconds / found.asked, 2)
    return row


def _rounded(ratio: Interval) -> list[float]:
    return [round(ratio.value, 3), round(ratio.low, 3), round(ratio.high, 3)]


def measure(
    trace: Trace, site: Cluster, milp_windows: int, say: Callable[[str], None]
) -> dict[str, Any]:
    told = make_estimates(trace, "noisy:1", seed=1)
    windows = congested_windows(trace, site, told)
    names = (*QUICK, "milp") if milp_windows else QUICK
    found = {name: Measured() for name in names}
    for number, window in enumerate(windows):
        for name in names if number < milp_windows else QUICK:
            play(window, site, told, name, found[name])
    rows = {name: told_of(each, found[BASE]) for name, each in found.items()}
    for name, row in rows.items():
        say(f"{trace.name} on {site.name}, {name}: {row}")
    return rows


def compile_all() -> None:
    """A small crowd in which every placement that plans is asked: what compiles is not measured."""
    trace, site = synthetic(4, jobs=150, load=2.0), cluster(4)
    told = make_estimates(trace, "noisy:1", seed=1)
    base = simulate(trace, site, ORDERINGS["saf"], PLACEMENTS[BASE], Backfill.EASY, told)
    for name in (*QUICK, "milp"):
        found = Measured()
        play(warm_window(base, 20, 130), site, told, name, found)
        assert found.asked or PLACEMENTS[name].optimiser is None, f"{name} was not asked"


def run(say: Callable[[str], None] = print) -> dict[str, Any]:
    compile_all()
    result: dict[str, Any] = {"order": "saf", "backfill": "easy", "estimates": "noisy:1"}
    for nodes in (17, 40):
        trace = synthetic(nodes, jobs=20_000, load=1.0)
        result[f"helios-like, {nodes}x8"] = measure(trace, cluster(nodes), MILP_WINDOWS, say)
    for name, trace in real_traces().items():
        nodes = REAL[name][1]
        result[f"{name}, {nodes}x8"] = measure(trace, cluster(nodes), 0, say)
    return result


if __name__ == "__main__":
    print(json.dumps(run(lambda line: print(line, file=sys.stderr)), indent=2))
