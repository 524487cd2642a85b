"""What really happened, where a trace has starts, and how far a replay is from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dovetail.domain.cluster import Cluster
from dovetail.domain.jobs import Floats
from dovetail.domain.metrics import summary
from dovetail.domain.schedule import Schedule
from dovetail.domain.trace import Trace
from dovetail.domain.units import duration, share

LABEL = "recorded"
"""Its row in a table."""

NEAR = 60.0
"""Seconds: two starts that are no farther apart count as the same."""


@dataclass(frozen=True, slots=True)
class Gap:
    """How far the starts of a replay are from those recorded, over jobs that have both."""

    label: str  # of the replay
    jobs: int
    recorded_wait: float  # means, in seconds
    replayed_wait: float
    error_p50: float  # seconds between the two starts of a job
    error_p90: float
    near: float  # share of jobs with at most a minute between them

    @property
    def sentence(self) -> str:
        """For people: the trust in everything else."""
        change = ""
        if self.recorded_wait > 0:
            change = f" ({self.replayed_wait / self.recorded_wait - 1:+.0%})"
        return (
            f"Trust: under {self.label} jobs wait {duration(self.replayed_wait)} on average, "
            f"recorded were {duration(self.recorded_wait)}{change}. Half of {self.jobs:,} starts "
            f"are off by less than {duration(self.error_p50)}, nine tenths by less than "
            f"{duration(self.error_p90)}; {share(self.near)} by a minute at most."
        )


@dataclass(frozen=True, slots=True)
class Recorded:
    """The figures of what happened, and the gap of the replay that should be like it."""

    metrics: Mapping[str, float]
    gap: Gap | None = None


def recorded_schedule(trace: Trace, cluster: Cluster) -> Schedule | None:
    """Starts as recorded; jobs without one never ran. None where none was recorded."""
    start = trace.jobs.recorded_start
    known = np.isfinite(start)
    if not known.any():
        return None
    count = len(trace)
    return Schedule(
        trace=trace,
        cluster=cluster,
        start=start,
        end=start + trace.jobs.run,
        estimate=np.full(count, np.nan),
        backfilled=np.zeros(count, np.bool_),
        rejected=np.where(known, 0, 1),
        reasons=("", "no start was recorded"),
        chunk_offset=np.zeros(count + 1, np.int64),
        chunk_node=np.zeros(0, np.int64),
        chunk_gpus=np.zeros(0, np.uint64),
        events=0,
        fragmentation=float("nan"),
    )


def recorded_metrics(schedule: Schedule) -> dict[str, float]:
    """As `summary` has them; what no trace tells is unknown."""
    figures: dict[str, Any] = summary(schedule)
    unknown = ("backfilled", "fragmentation_mean", "events", "sim_seconds")
    figures |= dict.fromkeys(unknown, float("nan"))
    return {key: float(value) for key, value in figures.items() if key != "config"}


def gap_of(label: str, recorded: Floats, replayed: Floats) -> Gap | None:
    """From the waits of every job; None where no job has both."""
    both = np.isfinite(recorded) & np.isfinite(replayed)
    if not both.any():
        return None
    off = np.abs(replayed[both] - recorded[both])
    return Gap(
        label,
        int(both.sum()),
        float(recorded[both].mean()),
        float(replayed[both].mean()),
        float(np.percentile(off, 50)),
        float(np.percentile(off, 90)),
        float((off <= NEAR).mean()),
    )
