"""Run-time estimates from history."""

from dovetail.prediction.error import PredictionError, prediction_error
from dovetail.prediction.history import HISTORY

__all__ = ["HISTORY", "PredictionError", "prediction_error"]
