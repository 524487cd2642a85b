"""Every predictor by name; a new one is a file here and a line in the registry."""

from __future__ import annotations

from collections.abc import Callable

from dovetail.domain.jobs import Floats, Jobs
from dovetail.domain.registry import Registry
from dovetail.prediction.boosted import predict_boosted
from dovetail.prediction.distribution import Distribution
from dovetail.prediction.median import predict_median
from dovetail.prediction.mixture import predict_by_mixture
from dovetail.prediction.recent import predict_by_history
from dovetail.prediction.timeline import Timeline, timeline_of

Forecaster = Callable[[Jobs, Timeline], Distribution]
"""Predicts every job at its submission from what had ended by then."""

PREDICTORS: Registry[Forecaster] = Registry(
    "predictor",
    {
        "median": predict_median,
        "history": predict_by_history,
        "boosted": predict_boosted,
        "mixture": predict_by_mixture,
    },
)


def predict(jobs: Jobs, name: str = "mixture", start: Floats | None = None) -> Distribution:
    """How long every job will run, as known when it is submitted.

    `start` is when jobs started, if not as recorded: a schedule's, for example.
    """
    return PREDICTORS[name](jobs, timeline_of(jobs, start))
