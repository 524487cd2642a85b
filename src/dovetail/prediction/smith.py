"""Smith's rule for slowdowns as a size in seconds: short, or likely to be over at once, goes first.

A second of waiting costs a job 1 / max(S, 10) of bounded slowdown. Where costs differ, the least
total has who goes by size over cost: E[S] / E[1 / max(S, 10)] (Smith 1956, Rothkopf 1966). The
root of it has the unit of a size. Of a run time that is known it is the run time; of one that is
not, it is below the mean by as much as the job may be short.
"""

from __future__ import annotations

import numpy as np

from dovetail.domain.jobs import Floats
from dovetail.domain.metrics import SHORT
from dovetail.prediction.distribution import Distribution, level_weights


def smith_size(forecast: Distribution) -> Floats:
    """Seconds, for jobs that have not run yet."""
    cost = (1.0 / np.maximum(forecast.quantiles, SHORT)) @ level_weights()
    return np.asarray(np.sqrt(np.maximum(forecast.mean, 1.0) / cost))
