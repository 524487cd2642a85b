"""The predictor `mixture`: trees and history together, by how right each was on alike jobs.

Where jobs repeat themselves, history knows the run time to the second; where they do not, trees
know better. Each group of alike jobs keeps the recent losses of both, and borrows those of the
next coarser group while it has few of its own. The median is that of one of them, or the plain
median: the average of two guesses, of which one is right, is often neither.
"""

from __future__ import annotations

import numpy as np

from dovetail.compiled.functions import inner, kernel
from dovetail.domain.jobs import Floats, Ints, Jobs
from dovetail.prediction.best_median import best_median
from dovetail.prediction.boosted import boosted_logs
from dovetail.prediction.calibration import calibrate
from dovetail.prediction.distribution import LEVELS, MEDIAN, Distribution
from dovetail.prediction.median import predict_median
from dovetail.prediction.observed import enforced_limits, log_runs, logs_of
from dovetail.prediction.recent import predict_by_history
from dovetail.prediction.similarity import levels_of
from dovetail.prediction.timeline import Timeline

FOLLOWS = 0.2
"""What the latest loss counts in a group's mean."""

BORROWED = 2.0
"""Jobs of a group that its own mean needs to count as much as the next coarser one's."""

SHARPNESS = 10.0
"""How much weight a lower loss wins: 0.1 less gives a share of 73 %."""

HANDICAPS = np.array([1.0, 1.0 / 0.9, 1.0])
"""Of the medians of history, trees and `median`: trees must be better by a tenth to be preferred.
"""


def predict_by_mixture(jobs: Jobs, timeline: Timeline) -> Distribution:
    """Every job at its submission."""
    trees = boosted_logs(jobs, timeline)
    history = logs_of(predict_by_history(jobs, timeline))
    logs, most = log_runs(jobs), enforced_limits(jobs, timeline)
    _, groups = levels_of(jobs)
    mixed = _mix(
        trees, history, logs, groups, int(groups.max()) + 1,
        timeline.submit, timeline.end, timeline.by_end,
    )  # fmt: skip
    plain = np.log(predict_median(jobs, timeline).quantiles[:, MEDIAN])
    medians = np.column_stack((history[:, MEDIAN], trees[:, MEDIAN], plain))
    median = best_median(medians, HANDICAPS, logs, groups, timeline)
    quantiles = calibrate(mixed[:, : len(LEVELS)], logs, most, timeline)
    _put_median(quantiles, np.minimum(median, most))
    return Distribution.of_logs(quantiles, mixed, most)


def _put_median(quantiles: Floats, median: Floats) -> None:
    """Lower quantiles stay at or below it, upper ones above."""
    column = median[:, None]
    quantiles[:, :MEDIAN] = np.minimum(quantiles[:, :MEDIAN], column)
    quantiles[:, MEDIAN + 1 :] = np.maximum(quantiles[:, MEDIAN + 1 :], column)
    quantiles[:, MEDIAN] = median


@kernel
def _mix(
    trees: Floats, history: Floats, logs: Floats, groups: Ints, group_count: int, submit: Floats,
    end: Floats, by_end: Ints,
) -> Floats:  # fmt: skip
    """All outputs averaged by weights."""
    losses = np.zeros((group_count, 3))  # ended; pinball of both
    mixed = np.empty_like(trees)
    ended = 0
    for job in range(len(trees)):
        while ended < len(by_end) and end[by_end[ended]] <= submit[job]:
            other = by_end[ended]
            new = _pinball(trees[other], logs[other]), _pinball(history[other], logs[other])
            for level in range(groups.shape[1]):
                if groups[other, level] >= 0:
                    _remember(losses[groups[other, level]], new)
            ended += 1
        first, second = _recall(losses, groups[job])
        share = 1.0 / (1.0 + np.exp(SHARPNESS * (second - first)))
        mixed[job] = (1.0 - share) * trees[job] + share * history[job]
    return mixed


@inner
def _pinball(row: Floats, log_run: float) -> float:
    loss = 0.0
    for k in range(len(LEVELS)):
        above = log_run - row[k]
        loss += LEVELS[k] * above if above > 0.0 else (LEVELS[k] - 1.0) * above
    return loss / len(LEVELS)


@inner
def _remember(group: Floats, new: tuple[float, float]) -> None:
    group[0] += 1.0
    keep = max(FOLLOWS, 1.0 / group[0])
    for i in range(2):
        group[i + 1] += keep * (new[i] - group[i + 1])


@inner
def _recall(losses: Floats, mine: Ints) -> tuple[float, float]:
    """Losses on alike jobs, coarse groups first, finer ones over them."""
    a, b = 0.0, 0.0
    for level in range(len(mine) - 1, -1, -1):
        if mine[level] >= 0:
            group = losses[mine[level]]
            count = min(group[0], 1.0 / FOLLOWS)
            own = count / (count + BORROWED)
            a += own * (group[1] - a)
            b += own * (group[2] - b)
    return a, b
