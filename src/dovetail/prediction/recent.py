"""The predictor `history`: quantiles of how the most similar recent jobs have run.

Levels of similarity are asked from the finest on. A level at which n jobs are remembered gets
n / (n + 2) of the weight that finer ones have left over, so that one job of the same name counts
a third, and fifteen settle the matter.
"""

from __future__ import annotations

import numpy as np

from dovetail.compiled.functions import inner, kernel
from dovetail.domain.jobs import Floats, Ints, Jobs
from dovetail.prediction.distribution import LEVELS, Distribution
from dovetail.prediction.observed import enforced_limits, log_runs
from dovetail.prediction.selection import order_few
from dovetail.prediction.similarity import levels_of
from dovetail.prediction.timeline import Timeline

REMEMBERED = 15
"""Run times kept per group: enough for quantiles, few enough to follow a user's change."""

FADES = 0.85
"""What a job counts beside the one that ended after it."""

DOUBT = 2.0
"""Jobs that a level needs to be believed by half."""

SETTLED = 0.03
"""Weight that is not worth asking coarser levels for."""

FIRST_GUESS = np.log(3600.0)
"""While nothing has ended and the job has no limit."""


def predict_by_history(jobs: Jobs, timeline: Timeline) -> Distribution:
    """Every job at its submission, from jobs that had ended by then."""
    _, groups = levels_of(jobs)
    logs = log_runs(jobs)
    limit = enforced_limits(jobs, timeline)
    found = _replay(
        timeline.submit, timeline.end, timeline.by_end, groups, int(groups.max()) + 1, logs, limit
    )
    return Distribution.of_quantiles(np.exp(found))


@kernel
def _replay(
    submit: Floats, end: Floats, by_end: Ints, groups: Ints, group_count: int, logs: Floats,
    limit: Floats,
) -> Floats:  # fmt: skip
    recent = np.zeros((group_count, REMEMBERED))
    total = np.zeros(group_count, np.int64)
    out = np.empty((len(submit), len(LEVELS)))
    values = np.empty(groups.shape[1] * REMEMBERED)
    weights = np.empty_like(values)
    ended = 0
    for job in range(len(submit)):
        while ended < len(by_end) and end[by_end[ended]] <= submit[job]:
            other = by_end[ended]
            for level in range(groups.shape[1]):
                group = groups[other, level]
                if group >= 0:
                    recent[group, total[group] % REMEMBERED] = logs[other]
                    total[group] += 1
            ended += 1
        count = _gather(groups[job], recent, total, values, weights)
        if count == 0:
            out[job] = min(FIRST_GUESS, limit[job])
        else:
            _weighted_quantiles(values[:count], weights[:count], limit[job], out[job])
    return out


@inner
def _gather(mine: Ints, recent: Floats, total: Ints, values: Floats, weights: Floats) -> int:
    """Run times of alike jobs with their weights; returns how many."""
    count, left = 0, 1.0
    for level in range(len(mine)):
        group = mine[level]
        if group < 0 or total[group] == 0:
            continue
        n = min(total[group], REMEMBERED)
        share = left * n / (n + DOUBT)
        whole = (1.0 - FADES**n) / (1.0 - FADES)
        for age in range(n):
            values[count] = recent[group, (total[group] - 1 - age) % REMEMBERED]
            weights[count] = share * FADES**age / whole
            count += 1
        left -= share
        if left < SETTLED:
            break
    return count


@inner
def _weighted_quantiles(values: Floats, weights: Floats, most: float, out: Floats) -> None:
    """The first value up to which enough weight lies.

    Never in between: jobs that either fail at once or run for hours do not run for minutes.
    """
    order = np.empty(len(values), np.int64)
    order_few(values, order)
    whole = weights.sum()
    k, below = 0, 0.0
    for i in order:
        below += weights[i]
        while k < len(out) and LEVELS[k] * whole <= below + 1e-12:
            out[k] = min(most, values[i])
            k += 1
    while k < len(out):
        out[k] = min(most, values[order[-1]])
        k += 1
