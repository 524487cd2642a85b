"""The tail of waits, how long until all is done, and use of the cluster while a part lasts.

Charges say what waiting costs in sum (`charges`). An objective may weigh these three as well: of
each block of time, and of the whole part. Whoever waits in it counts, whenever it came.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from dovetail.domain.jobs import Floats
from dovetail.domain.metrics import bounded_slowdown
from dovetail.domain.schedule import Schedule


class RanJobs(NamedTuple):
    """What is looked at of the jobs that ran, for all spans at once."""

    submit: Floats
    start: Floats
    end: Floats
    wait: Floats
    width: Floats  # GPUs, or CPUs on a cluster without GPUs
    size: float  # how many of these there are

    @classmethod
    def of(cls, schedule: Schedule) -> RanJobs:
        ran, jobs, cluster = schedule.ran, schedule.trace.jobs, schedule.cluster
        by_gpus = cluster.total_gpus > 0
        width = (jobs.gpus if by_gpus else jobs.cpus)[ran].astype(float)
        return cls(
            jobs.submit[ran], schedule.start[ran], schedule.end[ran], schedule.wait[ran],
            width, float(cluster.total_gpus if by_gpus else cluster.known_cpus),
        )  # fmt: skip


def block_outcomes(schedule: Schedule, first: int, count: int) -> Floats:
    """Tail, makespan and utilisation of each block, cut as charges are: [3, blocks]."""
    submit, ran = schedule.trace.jobs.submit, RanJobs.of(schedule)
    edges = submit[np.linspace(first, len(submit) - 1, count + 1).astype(int)].tolist()
    return np.array([span_outcomes(ran, *span) for span in pairwise(edges)]).T


def part_outcomes(schedule: Schedule, first: int) -> Floats:
    """The same of the whole part from the submission of row `first` to the last one: [3]."""
    submit = schedule.trace.jobs.submit
    return span_outcomes(RanJobs.of(schedule), float(submit[first]), float(submit[-1]))


def span_outcomes(ran: RanJobs, begin: float, end: float) -> Floats:
    """Of a span of time: [95th percentile of waits, seconds to the last end, share of the GPUs].

    Waits count in full, so that nobody's is shortened by where the span ends.
    """
    here = ((ran.submit >= begin) | (ran.start > begin)) & (ran.submit <= end)
    tail = float(np.percentile(ran.wait[here], 95)) if here.any() else 0.0
    makespan = float(ran.end[here].max()) - begin if here.any() else 0.0
    busy = np.maximum(0.0, np.minimum(ran.end, end) - np.maximum(ran.start, begin))
    # Not as a product of vectors: its threads took 25 times as long on a busy machine.
    used = float((ran.width * busy).sum()) / max(1.0, ran.size * (end - begin))
    return np.array([tail, makespan, used])


def part_summary(schedule: Schedule, first: int) -> dict[str, float]:
    """What an objective weighs of a part, under the names that `summary` has for a whole."""
    rows = first + np.flatnonzero(schedule.ran[first:])
    wait, run = schedule.wait[rows], schedule.run[rows]
    tail, makespan, used = part_outcomes(schedule, first).tolist()
    return {
        "wait_mean": float(wait.mean()) if len(rows) else 0.0,
        "bsld_mean": float(bounded_slowdown(wait, run).mean()) if len(rows) else 1.0,
        "wait_p95": tail,
        "makespan": makespan,
        "gpu_utilization": used,
    }
