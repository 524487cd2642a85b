"""Run-time estimates from history."""

from dovetail.domain.policy import Predictor
from dovetail.domain.registry import Registry, instances_of
from dovetail.prediction.error import PredictionError, prediction_error
from dovetail.prediction.history import HISTORY

PREDICTORS: Registry[Predictor] = Registry(
    "predictor",
    {HISTORY.name: HISTORY},
    group="dovetail.predictors",
    admit=instances_of(Predictor),
)

__all__ = ["HISTORY", "PREDICTORS", "PredictionError", "prediction_error"]
