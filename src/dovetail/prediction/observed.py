"""Logarithms of what was observed and told: run times, limits, predictions."""

from __future__ import annotations

import numpy as np

from dovetail.domain.jobs import Floats, Jobs
from dovetail.prediction.distribution import SHORTEST, Distribution


def log_runs(jobs: Jobs) -> Floats:
    """Of the true run times; who predicts may look at those of ended jobs only."""
    return np.log(np.maximum(jobs.run, SHORTEST))


def log_limits(jobs: Jobs) -> Floats:
    """What no prediction goes beyond; inf where there is no limit."""
    return np.where(np.isnan(jobs.limit), np.inf, np.log(np.maximum(jobs.limit, SHORTEST)))


def logs_of(forecast: Distribution) -> Floats:
    """[jobs, outputs] as trees give them: quantiles, log-mean, mean."""
    columns = [forecast.quantiles, forecast.log_mean, forecast.mean]
    return np.log(np.maximum(np.column_stack(columns), SHORTEST))
