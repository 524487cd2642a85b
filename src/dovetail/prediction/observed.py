"""Logarithms of what was observed and told: run times, limits, predictions."""

from __future__ import annotations

import numpy as np

from dovetail.domain.jobs import Floats, Jobs
from dovetail.prediction.distribution import SHORTEST, Distribution
from dovetail.prediction.timeline import Timeline

TOLERANCE = 1.1
"""Times its limit that a job may run before the limit counts as ignored: ending takes time."""

IGNORED = 0.01
"""Share of such jobs up to which limits are believed to end jobs."""


def log_runs(jobs: Jobs) -> Floats:
    """Of the true run times; who predicts may look at those of ended jobs only."""
    return np.log(np.maximum(jobs.run, SHORTEST))


def enforced_limits(jobs: Jobs, timeline: Timeline) -> Floats:
    """Log limits where limits end jobs, as far as was known at each submission; else inf.

    Some sites let jobs run on: on LANL's CM-5 every eighth did. There a limit bounds nothing.
    """
    told = np.where(np.isnan(jobs.limit), np.inf, np.maximum(jobs.limit, SHORTEST))
    over = jobs.run > TOLERANCE * told
    ended = np.searchsorted(timeline.end[timeline.by_end], timeline.submit, side="right")
    beyond = np.concatenate(([0], np.cumsum(over[timeline.by_end])))[ended]
    return np.where(beyond <= IGNORED * ended, np.log(told), np.inf)


def logs_of(forecast: Distribution) -> Floats:
    """[jobs, outputs] as trees give them: quantiles, log-mean, mean."""
    columns = [forecast.quantiles, forecast.log_mean, forecast.mean]
    return np.log(np.maximum(np.column_stack(columns), SHORTEST))
