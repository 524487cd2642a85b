"""A predictor knows ended jobs only, gives positive numbers, and the same ones every time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from dovetail.domain.jobs import Floats, Jobs
from dovetail.prediction import Predictor
from dovetail.prediction.timeline import timeline_of
from dovetail.testing.schedules import crowded_trace


def quantiles(predictor: Predictor, jobs: Jobs) -> Floats:
    """[jobs, levels] of every job at its submission."""
    return predictor.predict(jobs, timeline_of(jobs)).quantiles


def gives_rising_positive_numbers(predictor: Predictor) -> None:
    """Every quantile is finite and above 0, the first ones, without any history, too."""
    found = quantiles(predictor, crowded_trace().jobs)
    assert np.all(np.isfinite(found) & (found > 0)), (
        f"{predictor.name}: a prediction is not a finite number above 0"
    )
    assert np.all(np.diff(found, axis=1) >= 0), f"{predictor.name}: a higher quantile is lower"


def predicts_alike_twice(predictor: Predictor) -> None:
    """The same history gives the same predictions."""
    jobs = crowded_trace().jobs
    first, second = (quantiles(predictor, jobs) for _ in range(2))
    assert np.array_equal(first, second), f"{predictor.name}: predictions differ the second time"


def knows_ended_jobs_only(predictor: Predictor) -> None:
    """Jobs that end after a moment may run as long as they like: before it nothing changes."""
    jobs = crowded_trace().jobs
    timeline = timeline_of(jobs)
    moment = float(np.median(timeline.submit))
    later = timeline.end > moment
    other = replace(jobs, run=np.where(later, 7.0 * jobs.run + 1.0, jobs.run))
    before = jobs.submit <= moment
    assert np.array_equal(
        quantiles(predictor, jobs)[before], quantiles(predictor, other)[before]
    ), f"{predictor.name}: it looks at run times of jobs that have not ended"


CHECKS: tuple[Callable[[Predictor], None], ...] = (
    gives_rising_positive_numbers,
    predicts_alike_twice,
    knows_ended_jobs_only,
)


def check_predictor(predictor: Predictor) -> None:
    """All that every predictor is held to."""
    for check in CHECKS:
        check(predictor)
