"""Who gains, who pays: waits of groups of jobs under two schedules of the same jobs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dovetail.domain.job_groups import GROUPINGS
from dovetail.domain.jobs import Bools, Floats, Ints, Jobs

P95 = 95


@dataclass(frozen=True, slots=True)
class GroupWaits:
    """Waits in seconds of one group of jobs, under the baseline and under the candidate."""

    grouping: str  # of `GROUPINGS`
    name: str  # of the group
    jobs: int
    baseline_mean: float
    mean: float
    baseline_p95: float
    p95: float

    @property
    def mean_change(self) -> float:
        """By what part the mean wait grew; −0.5: it is half as long."""
        return change(self.baseline_mean, self.mean)

    @property
    def p95_change(self) -> float:
        return change(self.baseline_p95, self.p95)


def change(before: float, after: float) -> float:
    """The relative change; infinite where there was nothing before.

    >>> change(10.0, 12.0), change(0.0, 0.0), change(0.0, 1.0)
    (0.2, 0.0, inf)
    """
    if before > 0:
        return round(after / before - 1.0, 12)
    return math.inf if after > 0 else 0.0


def group_waits(
    jobs: Jobs,
    baseline: Floats,
    candidate: Floats,
    groupings: Sequence[str] = ("size", "qos", "account", "user"),
    rows: Bools | None = None,
) -> tuple[GroupWaits, ...]:
    """Each group's waits, largest first by jobs where groups have no order of their own.

    `baseline` and `candidate` are waits per job; only jobs that ran under both count, and of these
    only `rows` where that is given. Jobs of which a name is not known are in no group of it.
    """
    found: list[GroupWaits] = []
    for grouping in groupings:
        of_this = [
            _waits(grouping, name, baseline[member], candidate[member])
            for name, member in members_of(jobs, grouping, baseline, candidate, rows)
        ]
        if grouping not in ("size", "run_time"):
            of_this.sort(key=lambda group: (-group.jobs, group.name))
        found += of_this
    return tuple(found)


def members_of(
    jobs: Jobs, grouping: str, baseline: Floats, candidate: Floats, rows: Bools | None = None
) -> list[tuple[str, Ints]]:
    """The name of each group that has jobs, and their rows; counted as in `group_waits`."""
    counted = np.isfinite(baseline) & np.isfinite(candidate)
    if rows is not None:
        counted &= rows
    names = GROUPINGS[grouping](jobs)
    codes = np.where(counted, names.codes, -1)
    order = np.argsort(codes, kind="stable")
    edges = np.searchsorted(codes[order], np.arange(len(names.values) + 1))
    return [
        (name, order[edges[code] : edges[code + 1]])
        for code, name in enumerate(names.values)
        if edges[code] < edges[code + 1]
    ]


def _waits(grouping: str, name: str, baseline: Floats, candidate: Floats) -> GroupWaits:
    before, after = np.percentile([baseline, candidate], P95, axis=1).tolist()
    return GroupWaits(
        grouping, name, len(baseline), float(baseline.mean()), float(candidate.mean()), before,
        after,
    )  # fmt: skip
