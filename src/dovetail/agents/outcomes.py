"""The tail of waits, how long until all is done, and use of the cluster while a part lasts.

Charges say what waiting costs in sum (`charges`). An objective may weigh these three as well: of
each block of time, and of the whole part. Whoever waits in it counts, whenever it came.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from dovetail.domain.jobs import Floats
from dovetail.domain.metrics import bounded_slowdown
from dovetail.domain.schedule import Schedule


def block_outcomes(schedule: Schedule, first: int, count: int) -> Floats:
    """Tail, makespan and utilisation of each block, cut as charges are: [3, blocks]."""
    submit = schedule.trace.jobs.submit
    edges = submit[np.linspace(first, len(submit) - 1, count + 1).astype(int)].tolist()
    return np.array([span_outcomes(schedule, *span) for span in pairwise(edges)]).T


def part_outcomes(schedule: Schedule, first: int) -> Floats:
    """The same of the whole part from the submission of row `first` to the last one: [3]."""
    submit = schedule.trace.jobs.submit
    return span_outcomes(schedule, float(submit[first]), float(submit[-1]))


def span_outcomes(schedule: Schedule, begin: float, end: float) -> Floats:
    """Of a span of time: [95th percentile of waits, seconds to the last end, share of the GPUs].

    Waits count in full, so that nobody's is shortened by where the span ends.
    """
    ran = schedule.ran
    submit, start, done = schedule.trace.jobs.submit[ran], schedule.start[ran], schedule.end[ran]
    here = ((submit >= begin) | (start > begin)) & (submit <= end)
    tail = float(np.percentile((start - submit)[here], 95)) if here.any() else 0.0
    makespan = float(done[here].max()) - begin if here.any() else 0.0
    busy = np.maximum(0.0, np.minimum(done, end) - np.maximum(start, begin))
    width, size = _sizes(schedule)
    used = float(width[ran] @ busy) / max(1.0, size * (end - begin))
    return np.array([tail, makespan, used])


def _sizes(schedule: Schedule) -> tuple[Floats, float]:
    """What jobs take and what there is: GPUs, or CPUs on a cluster without GPUs."""
    jobs, cluster = schedule.trace.jobs, schedule.cluster
    if cluster.total_gpus:
        return jobs.gpus.astype(float), float(cluster.total_gpus)
    return jobs.cpus.astype(float), float(cluster.known_cpus)


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
