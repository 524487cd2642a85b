"""Run times of live jobs predicted from jobs that the journal saw end.

>>> estimate = JournalPredictor([], "predicted")
>>> estimate([LiveJob(17, "17", "PENDING", limit=600.0)], now=0.0).seconds.tolist()
[600.0]
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from dovetail.domain.estimates import Estimates
from dovetail.domain.jobs import TEN_YEARS, Floats, JobColumns, Jobs
from dovetail.live.cycle.queue_window import told_by_limit
from dovetail.live.journal import EndedRun, RecordedRun
from dovetail.live.model.snapshot import LiveJob
from dovetail.prediction import predict
from dovetail.prediction.distribution import Distribution
from dovetail.prediction.estimates import with_forecast
from dovetail.prediction.request import Request

MOST = 6_000
"""Ended jobs that are looked at, the latest: a fit of trees looks at as many, and takes a second.
"""

SWIFT = "history"
"""The predictor of jobs that come between two runs of the one that is asked for: 20 ms."""

MANY = 0.5
"""Share of jobs without a prediction from which on the asked predictor is run for all of them."""

NEVER_YET = 1e9
"""Seconds from now: jobs that have not ended are not learned from."""


class JournalPredictor:
    """Predicts each job once, by the predictor that a policy was chosen with.

    To be made anew now and then, with what has ended since. A running job is predicted as what is
    left of it, given how long it has run.
    """

    def __init__(self, ended: Iterable[EndedRun], spec: str, limit_power: float = 1.0) -> None:
        """limit_power: how far limits are believed as long as no job has ended."""
        past = sorted(ended, key=lambda each: each.end)[-MOST:]
        self._past = sorted(past, key=_submitted)
        self._asked, self._limit_power = Request.parse(spec), limit_power
        # Number and user of a job -> its quantiles, mean and log-mean.
        self._known: dict[tuple[int, str], Floats] = {}

    def __call__(self, jobs: Sequence[LiveJob], now: float) -> Estimates:
        """What is told of these jobs; by limits as long as none has ended."""
        if not self._past or not jobs:
            return told_by_limit(jobs, now, self._limit_power)
        new = [job for job in jobs if _key(job) not in self._known]
        if new:
            swift = len(new) < MANY * len(jobs)
            self._predict(new, SWIFT if swift else self._asked.predictor, now)
        rows = np.array([self._known[_key(job)] for job in jobs])
        forecast = Distribution(rows[:, :-2], rows[:, -2], rows[:, -1])
        passed = np.array([_elapsed(job, now) for job in jobs])
        asked = self._asked.reserve
        reserve = np.where(passed > 0.0, asked.whole_given(forecast, passed), asked.of(forecast))
        most = np.nan_to_num(_limits(jobs), nan=np.inf)
        order = np.minimum(self._asked.order.of(forecast), most)
        return with_forecast(self._asked.spec, order, np.minimum(reserve, most), forecast)

    def _predict(self, jobs: Sequence[LiveJob], predictor: str, now: float) -> None:
        found = predict(_columns(self._past, jobs, now), predictor).take(slice(-len(jobs), None))
        rows = np.column_stack((found.quantiles, found.mean, found.log_mean))
        self._known.update(zip(map(_key, jobs), rows, strict=True))


def _key(job: LiveJob) -> tuple[int, str]:
    return job.id, job.user  # a decider rehearses with jobs of nobody


def _elapsed(job: LiveJob, now: float) -> float:
    return max(0.0, now - job.start) if job.running and not math.isnan(job.start) else 0.0


def _columns(past: Sequence[EndedRun], jobs: Sequence[LiveJob], now: float) -> Jobs:
    """Ended jobs as they were, then those to be predicted, as if they were submitted now."""
    runs = [each.run for each in past]
    both: list[LiveJob | RecordedRun] = [*runs, *jobs]
    ended = [max(0.0, each.end - each.run.start) for each in past]
    return JobColumns(
        submit=[min(_submitted(each), now) for each in past] + [now] * len(jobs),
        run=ended + [1.0] * len(jobs),
        recorded_start=[run.start for run in runs] + [now + NEVER_YET] * len(jobs),
        gpus=[max(1, part.gpus) for part in both],
        limit=_limits(both),
        cpus=[part.cpus for part in both],
        memory=[part.memory_gb for part in both],
        user=[part.user or None for part in both],
        account=[part.account or None for part in both],
        qos=[part.qos or None for part in both],
        array=[str(part.array) if part.array else None for part in both],
        name=[part.name or None for part in both],
        partition=[run.partition or None for run in runs]
        + [",".join(job.partitions) or None for job in jobs],
    ).build()


def _submitted(each: EndedRun) -> float:
    return each.run.start if math.isnan(each.run.submit) else each.run.submit


def _limits(jobs: Sequence[LiveJob | RecordedRun]) -> Floats:
    """NaN: none that would ever end the job."""
    seconds = np.array([job.limit for job in jobs], np.float64)
    return np.where((seconds > 0) & (seconds <= TEN_YEARS), seconds, np.nan)
