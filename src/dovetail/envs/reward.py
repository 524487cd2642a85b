"""What an episode is worth: how far it is from the base policy on the same jobs.

| metric      | of the window's own jobs, lower is better                                      |
|-------------|--------------------------------------------------------------------------------|
| bsld        | mean bounded slowdown                                                          |
| wait        | mean wait, seconds                                                             |
| jct         | mean time from submission to end, seconds                                      |
| utilisation | per cent of the GPUs (CPUs where there are none) left unused until all have ended |

The published reward comes once, at the end: (base - ours) / max(base, ours, 1). A dense one charges
each second that a job waits when it passes, as a share of what the base's jobs wait in all: its
sum over an episode is 1 - ours / base, and each decision is paid for as soon as it costs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numba
from numba import types

from dovetail.compiled.functions import LazyFunction, kernel
from dovetail.compiled.tables import dtype_of
from dovetail.domain.metrics import SHORT
from dovetail.domain.policy import CLUSTER, JOBS, ClusterRow, JobRows
from dovetail.domain.registry import Registry
from dovetail.simulator.kernel.rows import RunRow

RUN = numba.from_dtype(dtype_of(RunRow))
MEASURE = types.float64(
    JOBS,
    types.Array(RUN, 1, "C"),
    CLUSTER,  # one row
    types.int64,  # first of the window's own jobs
    types.float64,  # when the window begins
)
Runs = Any


def measuring(function: Callable[..., float]) -> LazyFunction:
    """A metric; arguments as in MEASURE, lower is better."""
    return LazyFunction(MEASURE, function)


@dataclass(frozen=True, slots=True)
class Metric:
    """A score of one window that has been played to its end."""

    name: str
    measure: LazyFunction  # made by `measuring`


@kernel
def gap(base: float, ours: float) -> float:
    """The reward: above 0 if ours is better, and between -1 and 1 whatever the metric's unit."""
    return (base - ours) / max(base, ours, 1.0)


@measuring
def _bsld(jobs: JobRows, runs: Runs, cluster: ClusterRow, first: int, begin: float) -> float:
    total, count = 0.0, 0
    for job in range(first, len(runs)):
        if runs[job].demand >= 0:
            run = runs[job].end - runs[job].start
            total += max(1.0, (runs[job].end - jobs[job].submit) / max(run, SHORT))
            count += 1
    return total / max(count, 1)


@measuring
def _wait(jobs: JobRows, runs: Runs, cluster: ClusterRow, first: int, begin: float) -> float:
    total, count = 0.0, 0
    for job in range(first, len(runs)):
        if runs[job].demand >= 0:
            total += runs[job].start - jobs[job].submit
            count += 1
    return total / max(count, 1)


@measuring
def _jct(jobs: JobRows, runs: Runs, cluster: ClusterRow, first: int, begin: float) -> float:
    total, count = 0.0, 0
    for job in range(first, len(runs)):
        if runs[job].demand >= 0:
            total += runs[job].end - jobs[job].submit
            count += 1
    return total / max(count, 1)


@measuring
def _unused(jobs: JobRows, runs: Runs, cluster: ClusterRow, first: int, begin: float) -> float:
    busy, sizes, last = 0.0, 0.0, begin
    for job in range(first, len(runs)):
        if runs[job].demand >= 0:
            busy += jobs[job].gpus * (runs[job].end - runs[job].start)
            sizes += jobs[job].size * (runs[job].end - runs[job].start)
            last = max(last, runs[job].end)
    if last == begin:
        return 0.0
    if busy == 0.0:  # no job has GPUs: sizes are their CPUs
        busy = sizes
    return 100.0 * (1.0 - busy / (cluster[0].total_gpus * (last - begin)))


METRICS: Registry[Metric] = Registry(
    "metric",
    {
        "bsld": Metric("bsld", _bsld),
        "wait": Metric("wait", _wait),
        "jct": Metric("jct", _jct),
        "utilisation": Metric("utilisation", _unused),
    },
)
