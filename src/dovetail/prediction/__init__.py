"""Run-time estimates from history."""

from dovetail.domain.policy import Estimates, Predictor
from dovetail.domain.registry import Registry, instances_of
from dovetail.prediction.error import PredictionError, prediction_error
from dovetail.prediction.history import HISTORY

PREDICTORS: Registry[Predictor] = Registry(
    "predictor",
    {HISTORY.name: HISTORY},
    group="dovetail.predictors",
    admit=instances_of(Predictor),
)


def predictor_of(estimates: Estimates) -> Predictor:
    """What predicts run times: that of `predicted:NAME`, by default `history`.

    >>> predictor_of(Estimates("predicted", None)).name
    'history'
    """
    return PREDICTORS[estimates.name.partition("predicted:")[2] or HISTORY.name]


__all__ = ["HISTORY", "PREDICTORS", "PredictionError", "prediction_error", "predictor_of"]
