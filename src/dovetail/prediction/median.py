"""The predictor `median`: the middle of the last fifteen jobs of the finest group with three."""

from __future__ import annotations

import numpy as np

from dovetail.compiled.functions import kernel
from dovetail.domain.jobs import Floats, Ints, Jobs
from dovetail.domain.policy import History
from dovetail.prediction.distribution import LEVELS, SHORTEST, Distribution
from dovetail.prediction.history import fresh, observe_row, predict_row
from dovetail.prediction.timeline import Timeline


def predict_median(jobs: Jobs, timeline: Timeline) -> Distribution:
    """One number per job, which stands for every quantile: it says nothing of how sure it is."""
    found = _replay(fresh(jobs), timeline.submit, timeline.end, timeline.by_end, jobs.run.copy())
    return Distribution.of_quantiles(
        np.repeat(np.maximum(found, SHORTEST)[:, None], len(LEVELS), axis=1)
    )


@kernel
def _replay(history: History, submit: Floats, end: Floats, by_end: Ints, run: Floats) -> Floats:
    predicted = np.empty(len(submit))
    ended = 0
    for job in range(len(submit)):
        while ended < len(by_end) and end[by_end[ended]] <= submit[job]:
            observe_row(history, by_end[ended], run[by_end[ended]])
            ended += 1
        predicted[job] = predict_row(history, job)
    return predicted
