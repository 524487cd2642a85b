"""The median of whichever predictor was right most often on alike jobs of late."""

from __future__ import annotations

import numpy as np

from dovetail.compiled.functions import inner, kernel
from dovetail.domain.jobs import Floats, Ints
from dovetail.prediction.timeline import Timeline

FOLLOWS = 0.1
"""What the latest loss counts in a group's mean. With 0.2, RICC's medians were within a factor of
two for 71.1 % of the jobs, with 0.1 for 71.5 %."""

BORROWED = 2.0
"""Jobs of a group that its own mean needs to count as much as the next coarser one's."""

FAR = 0.7
"""Of the logarithm: a median that is off by more than a factor of two is just wrong."""

NEAR = 0.3
"""What a median that is off by just that factor loses, if a wrong one loses 1."""


def best_median(
    medians: Floats, handicaps: Floats, logs: Floats, groups: Ints, timeline: Timeline
) -> Floats:
    """Of log medians [jobs, predictors] one for each job.

    A predictor with a handicap above 1 must be so much better to be preferred.
    """
    return _follow(
        medians, handicaps, logs, groups, int(groups.max()) + 1,
        timeline.submit, timeline.end, timeline.by_end,
    )  # fmt: skip


@kernel
def _follow(
    medians: Floats, handicaps: Floats, logs: Floats, groups: Ints, group_count: int,
    submit: Floats, end: Floats, by_end: Ints,
) -> Floats:  # fmt: skip
    count = medians.shape[1]
    losses = np.zeros((group_count, count))
    seen = np.zeros(group_count)
    found, recalled = np.empty(len(medians)), np.empty(count)
    ended = 0
    for job in range(len(medians)):
        while ended < len(by_end) and end[by_end[ended]] <= submit[job]:
            other = by_end[ended]
            for level in range(groups.shape[1]):
                if groups[other, level] >= 0:
                    group = groups[other, level]
                    seen[group] += 1.0
                    _remember(losses[group], seen[group], medians[other], logs[other])
            ended += 1
        recalled[:] = 0.0
        for level in range(groups.shape[1] - 1, -1, -1):  # coarse groups first, finer over them
            group = groups[job, level]
            if group >= 0:
                own = min(seen[group], 1.0 / FOLLOWS)
                recalled += own / (own + BORROWED) * (losses[group] - recalled)
        found[job] = medians[job, np.argmin(recalled * handicaps)]
    return found


@inner
def _remember(losses: Floats, seen: float, medians: Floats, log_run: float) -> None:
    keep = max(FOLLOWS, 1.0 / seen)
    for i in range(len(losses)):
        off = abs(medians[i] - log_run)
        losses[i] += keep * ((1.0 if off > FAR else NEAR * off / FAR) - losses[i])
