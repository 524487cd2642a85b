"""How good predictions are: the predictor's own error and spread, replayed without a look ahead."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dovetail.compiled.functions import kernel
from dovetail.domain.jobs import Floats, Ints, Jobs
from dovetail.domain.policy import History
from dovetail.prediction.history import fresh, observe_row, predict_row, sorted_recent


@dataclass(frozen=True, slots=True)
class PredictionError:
    """Errors as factors: 2 means that half of the predictions are off by more than twofold."""

    jobs: int
    median_factor: float  # median of max(predicted / run, run / predicted)
    p90_factor: float
    within_twofold: float  # share of jobs
    too_short: float  # share of jobs that ran longer than predicted
    median_spread: float  # median of the predictor's own 84th / 50th percentile

    def __str__(self) -> str:
        return (
            f"half of {self.jobs:,} predictions are within a factor of {self.median_factor:.1f}, "
            f"nine in ten within {self.p90_factor:.1f}; {self.too_short:.0%} were too short"
        )


def prediction_error(jobs: Jobs, start: Floats | None = None) -> PredictionError:
    """Replay a trace, predicting each job on submission from those that had ended by then.

    `start` is when jobs started (a schedule's or the trace's own); without it, on submission.
    """
    begun = jobs.submit if start is None else np.where(np.isnan(start), jobs.submit, start)
    end = begun + jobs.run
    by_end = np.argsort(end, kind="stable")
    predicted, spread = _replay(fresh(jobs), jobs.submit.copy(), end, by_end, jobs.run.copy())
    return summarise(jobs.run, predicted, spread)


def summarise(run: Floats, predicted: Floats, spread: Floats) -> PredictionError:
    """Errors of predictions against true run times, both counted as at least 1 s."""
    ratio = np.maximum(predicted, 1.0) / np.maximum(run, 1.0)
    factor = np.maximum(ratio, 1.0 / ratio)
    return PredictionError(
        jobs=len(run),
        median_factor=float(np.median(factor)),
        p90_factor=float(np.percentile(factor, 90)),
        within_twofold=float(np.mean(factor <= 2.0)),
        too_short=float(np.mean(ratio < 1.0)),
        median_spread=float(np.median(spread)),
    )


@kernel
def _replay(
    history: History, submit: Floats, end: Floats, by_end: Ints, run: Floats
) -> tuple[Floats, Floats]:
    predicted, spread = np.empty(len(submit)), np.empty(len(submit))
    ended = 0
    for job in range(len(submit)):
        while ended < len(by_end) and end[by_end[ended]] <= submit[job]:
            observe_row(history, by_end[ended], run[by_end[ended]])
            ended += 1
        predicted[job] = predict_row(history, job)
        recent = sorted_recent(history, job)
        high = recent[int(0.84 * len(recent))] if len(recent) else predicted[job]
        spread[job] = max(1.0, high) / max(1.0, predicted[job])
    return predicted, spread
