"""Every predictor by name; a new one is a file here and a line in the registry."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dovetail.domain.jobs import Floats, Jobs
from dovetail.domain.registry import Registry, instances_of
from dovetail.prediction.boosted import predict_boosted
from dovetail.prediction.distribution import Distribution
from dovetail.prediction.median import predict_median
from dovetail.prediction.mixture import predict_by_mixture
from dovetail.prediction.recent import predict_by_history
from dovetail.prediction.timeline import Timeline, timeline_of


@dataclass(frozen=True, slots=True)
class Predictor:
    """Predicts every job at its submission from what had ended by then."""

    name: str
    predict: Callable[[Jobs, Timeline], Distribution]
    about: str = ""  # what it goes by, in a few words, for lists


PREDICTORS: Registry[Predictor] = Registry(
    "predictor",
    {
        part.name: part
        for part in (
            Predictor("median", predict_median, "the median of the last fifteen alike jobs"),
            Predictor("history", predict_by_history, "quantiles of alike jobs"),
            Predictor("boosted", predict_boosted, "boosted trees, fitted anew as time goes on"),
            Predictor("mixture", predict_by_mixture, "of both, what was right on alike jobs"),
        )
    },
    group="dovetail.predictors",
    admit=instances_of(Predictor),
)


def predict(jobs: Jobs, name: str = "mixture", start: Floats | None = None) -> Distribution:
    """How long every job will run, as known when it is submitted.

    `start` is when jobs started, if not as recorded: a schedule's, for example.
    """
    return PREDICTORS[name].predict(jobs, timeline_of(jobs, start))
