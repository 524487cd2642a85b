"""Gittins' index as a size in seconds: the best rate at which a job can be expected to end.

For a job that may be stopped after d seconds, E[min(S, d)] / P(S <= d) is what one ending costs;
the least over d is the index (Gittins 1989). A job that either fails within a minute or runs for a
day is worth a try by this index, though its mean is half a day.
"""

from __future__ import annotations

import numpy as np

from dovetail.compiled.functions import kernel
from dovetail.domain.jobs import Floats
from dovetail.prediction.distribution import LEVELS, Distribution


def gittins_size(forecast: Distribution) -> Floats:
    """Seconds per ending, for jobs that have not run yet."""
    return _sizes(forecast.quantiles, LEVELS)


@kernel
def _sizes(quantiles: Floats, levels: Floats) -> Floats:
    out = np.empty(len(quantiles))
    for job in range(len(quantiles)):
        row = quantiles[job]
        best = np.inf
        spent, before, at = 0.0, 0.0, 0.0  # E[min(S, d)] up to the last quantile
        for k in range(len(levels)):
            # Between two quantiles the chance to have ended grows in a straight line.
            spent += (row[k] - at) * (1.0 - 0.5 * (before + levels[k]))
            before, at = levels[k], row[k]
            best = min(best, spent / levels[k])
        out[job] = max(best, 1.0)
    return out
