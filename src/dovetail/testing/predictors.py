"""A predictor knows ended jobs only, gives positive numbers, and the same ones every time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from dovetail.domain.jobs import Floats, Jobs
from dovetail.domain.policy import Predictor
from dovetail.testing.schedules import crowded_trace


def predictions(predictor: Predictor, jobs: Jobs, ended: Floats) -> Floats:
    """What is predicted of each job on arrival, if those before it ended after `ended` seconds."""
    history = predictor.fresh(jobs)
    found = np.empty(len(jobs.run))
    for job in range(len(found)):
        found[job] = predictor.predict(history, job)
        predictor.observe(history, job, float(ended[job]))
    return found


def gives_positive_numbers(predictor: Predictor) -> None:
    """Every prediction is finite and above 0, the first one, without any history, too."""
    jobs = crowded_trace().jobs
    found = predictions(predictor, jobs, jobs.run)
    assert np.all(np.isfinite(found) & (found > 0)), (
        f"{predictor.name}: a prediction is not a finite number above 0"
    )


def predicts_alike_twice(predictor: Predictor) -> None:
    """The same history gives the same predictions."""
    jobs = crowded_trace().jobs
    first, second = (predictions(predictor, jobs, jobs.run) for _ in range(2))
    assert np.array_equal(first, second), f"{predictor.name}: predictions differ the second time"


def knows_ended_jobs_only(predictor: Predictor) -> None:
    """The true run times of the trace change nothing, only what was observed does."""
    jobs = crowded_trace().jobs
    ended = jobs.run.copy()
    other = replace(jobs, run=jobs.run * 7.0 + 1.0)
    assert np.array_equal(
        predictions(predictor, jobs, ended), predictions(predictor, other, ended)
    ), f"{predictor.name}: it looks at run times of jobs that have not ended"


CHECKS: tuple[Callable[[Predictor], None], ...] = (
    gives_positive_numbers,
    predicts_alike_twice,
    knows_ended_jobs_only,
)


def check_predictor(predictor: Predictor) -> None:
    """All that every predictor is held to."""
    for check in CHECKS:
        check(predictor)
