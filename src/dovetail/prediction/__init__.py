"""How long a job will run: a distribution, from jobs that have ended.

forecast = predict(trace.jobs, "mixture")     # of every job, as of its submission
forecast.quantile(0.8), forecast.mean, forecast.remaining(forecast.mean)
"""

from dovetail.prediction.error import PredictionError, prediction_error
from dovetail.prediction.history import HISTORY
from dovetail.prediction.predictors import PREDICTORS, Predictor, predict

__all__ = ["HISTORY", "PREDICTORS", "PredictionError", "Predictor", "predict", "prediction_error"]
