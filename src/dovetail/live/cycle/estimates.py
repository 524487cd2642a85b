"""Run times of live jobs predicted from jobs that the journal saw end.

>>> estimate = from_history([])
>>> estimate([LiveJob(17, "17", "PENDING", limit=600.0)]).tolist()
[600.0]
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from dovetail.domain.jobs import Floats, JobColumns, Jobs
from dovetail.live.cycle.queue_window import Estimate, by_limit
from dovetail.live.journal import EndedRun
from dovetail.live.model.snapshot import LiveJob
from dovetail.prediction.history import fresh, observe_row, predict_row

MOST = 20_000
"""Ended jobs that are looked at: predictions use the last fifteen of each kind."""


def from_history(ended: Iterable[EndedRun]) -> Estimate:
    """Predictions by the median of similar jobs; by limits as long as none has ended."""
    past = sorted(ended, key=lambda each: each.end)[-MOST:]

    def estimate(jobs: Sequence[LiveJob]) -> Floats:
        if not past or not jobs:
            return by_limit(jobs)
        history = fresh(_columns(past, jobs))
        for row, each in enumerate(past):
            observe_row(history, row, max(0.0, each.end - each.run.start))
        rows = range(len(past), len(past) + len(jobs))
        return np.maximum(1.0, [predict_row(history, row) for row in rows])

    return estimate


def _columns(past: Sequence[EndedRun], jobs: Sequence[LiveJob]) -> Jobs:
    runs = [each.run for each in past]
    limits = by_limit(jobs)
    count = len(past) + len(jobs)
    return JobColumns(
        submit=np.zeros(count),
        run=np.ones(count),
        gpus=[max(1, run.gpus) for run in runs] + [max(1, job.gpus) for job in jobs],
        limit=[run.limit for run in runs] + limits.tolist(),
        user=[run.user or None for run in runs] + [job.user or None for job in jobs],
        partition=[run.partition or None for run in runs]
        + [",".join(job.partitions) or None for job in jobs],
    ).build()
