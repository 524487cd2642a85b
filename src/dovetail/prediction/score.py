"""How good predictions are: pinball loss, share within a factor of two, coverage."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dovetail.domain.jobs import Floats
from dovetail.prediction.distribution import LEVELS, MEDIAN, SHORTEST, Distribution


@dataclass(frozen=True, slots=True)
class PredictionScore:
    """Figures over jobs; losses count logarithms, so that every factor counts alike."""

    jobs: int
    pinball: float  # mean over levels and jobs
    pinball_median: float  # half of the mean absolute logarithm of predicted / run
    within_twofold: float  # share of jobs whose median is within a factor of 2
    coverage: float  # share of jobs between the 10th and the 90th percentile
    rank_correlation: float  # of the log-mean with the run time
    reached: tuple[float, ...]  # share of jobs up to each of LEVELS


def score(forecast: Distribution, run: Floats) -> PredictionScore:
    """Compare predictions with how long the jobs really ran."""
    logs = np.log(np.maximum(run, SHORTEST))[:, None]
    told = np.log(np.maximum(forecast.quantiles, SHORTEST))
    above = logs - told
    loss = np.where(above > 0, LEVELS * above, (LEVELS - 1.0) * above)
    # A run that ends on the very second of a prediction is within it.
    inside = logs <= told + 1e-9
    low, high = told[:, 1] - 1e-9, told[:, -2] + 1e-9
    return PredictionScore(
        jobs=len(run),
        pinball=float(loss.mean()),
        pinball_median=float(loss[:, MEDIAN].mean()),
        within_twofold=float(np.mean(np.abs(above[:, MEDIAN]) <= np.log(2.0))),
        coverage=float(np.mean((low <= logs[:, 0]) & (logs[:, 0] <= high))),
        rank_correlation=_rank_correlation(forecast.log_mean, run),
        reached=tuple(float(share) for share in inside.mean(axis=0)),
    )


def _rank_correlation(one: Floats, other: Floats) -> float:
    if len(one) < 2:
        return float("nan")
    return float(np.corrcoef(_ranks(one), _ranks(other))[0, 1])


def _ranks(values: Floats) -> Floats:
    """Ranks, the mean of them where values are equal."""
    _, code, count = np.unique(values, return_inverse=True, return_counts=True)
    after = np.cumsum(count)
    return (after - 0.5 * (count - 1))[code]
