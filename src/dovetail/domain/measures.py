"""What the figures of `summary` mean: unit, which way is better, one line about each.

>>> MEASURES["wait_mean"].unit, MEASURES["gpu_utilization"].better is Better.HIGHER
('seconds', True)
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from dovetail.domain.registry import Registry


class Better(Enum):
    """Which value of a measure a scheduler should want."""

    LOWER = "lower"
    HIGHER = "higher"
    NEITHER = "neither"  # it describes the run, or good and bad schedules alike


@dataclass(frozen=True, slots=True)
class Measure:
    """One figure of a schedule."""

    name: str  # the key of `summary` and of `--json`
    unit: str
    better: Better
    about: str


_WAIT = "from submission (or eligibility) to start"
_SLOWDOWN = "(wait + run) / max(run, 10 s), at least 1"

MEASURES: Registry[Measure] = Registry(
    "measure",
    {
        measure.name: measure
        for measure in (
            Measure("jobs", "jobs", Better.NEITHER, "in the trace, rejected ones included"),
            Measure("wait_mean", "seconds", Better.LOWER, f"mean wait, {_WAIT}"),
            Measure("wait_p50", "seconds", Better.LOWER, "median wait"),
            Measure("wait_p95", "seconds", Better.LOWER, "95th percentile of waits"),
            Measure("wait_p99", "seconds", Better.LOWER, "99th percentile of waits"),
            Measure("jct_mean", "seconds", Better.LOWER, "mean time from submission to end"),
            Measure("bsld_mean", "ratio", Better.LOWER, f"mean bounded slowdown, {_SLOWDOWN}"),
            Measure("bsld_p95", "ratio", Better.LOWER, "95th percentile of bounded slowdowns"),
            Measure(
                "gpu_utilization",
                "share",
                Better.HIGHER,
                "GPU time in use, of all GPU time from the first submission to the last end",
            ),
            Measure(
                "cpu_utilization",
                "share",
                Better.HIGHER,
                "the same of CPUs, on nodes that say how many they have; 0 where none does",
            ),
            Measure(
                "throughput_jobs_per_hour", "jobs per hour", Better.HIGHER, "jobs that have ended"
            ),
            Measure(
                "makespan", "seconds", Better.LOWER, "from the first submission to the last end"
            ),
            Measure(
                "fragmentation_mean",
                "share",
                Better.LOWER,
                "of the free GPUs, those on partly used nodes; mean over time",
            ),
            Measure(
                "backfilled", "jobs", Better.NEITHER, "that passed a blocked job ahead of them"
            ),
            Measure(
                "fairness_jain_users",
                "0 to 1",
                Better.HIGHER,
                "Jain's index over users' mean bounded slowdowns (partitions' where users are "
                "unknown); 1 is even",
            ),
            Measure("restarts", "restarts", Better.NEITHER, "of jobs under which a node failed"),
            Measure("unfinished", "jobs", Better.LOWER, "that were rejected, or never could run"),
            Measure("events", "events", Better.NEITHER, "that the simulator took in"),
            Measure("sim_seconds", "seconds", Better.NEITHER, "real time that the simulation took"),
        )
    },
)
