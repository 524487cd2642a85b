"""Where policies stand on the same jobs: means, distance to the bound, the first against each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dovetail.domain.jobs import Floats, Ints
from dovetail.domain.metrics import bounded_slowdown
from dovetail.domain.schedule import Schedule
from dovetail.evaluation.bounds.bound import Bounds
from dovetail.evaluation.statistics import Interval, ratio_of_means


@dataclass(frozen=True, slots=True)
class Standing:
    """Means of one policy, and the first policy's means as ratios to them."""

    label: str
    wait: float
    jct: float
    bsld: float
    wait_over_bound: float  # 1: no scheduler waits less; NaN: the bound is 0
    wait_ratio: Interval  # first policy / this one: below 1, the first is better
    jct_ratio: Interval
    bsld_ratio: Interval


@dataclass(frozen=True, slots=True)
class Unseen:
    """Policies on jobs that the first of them was not trained on."""

    jobs: int
    groups: int  # of jobs, from which the intervals are drawn
    draws: int  # of the estimates' noise, all figures being means over them
    bound: Bounds  # of the same jobs alone on an idle cluster
    rows: tuple[Standing, ...]


def measure(schedule: Schedule, rows: Ints) -> Floats:
    """Wait, completion time and bounded slowdown [metrics, jobs] of some jobs."""
    wait, run = schedule.wait[rows], schedule.run[rows]
    return np.stack((wait, wait + run, bounded_slowdown(wait, run)))


def standings(
    labels: Sequence[str], means: Sequence[Floats], groups: Sequence[Floats], bound: Bounds
) -> tuple[Standing, ...]:
    """From each policy's means [metrics] and means of groups of jobs [metrics, groups]."""
    rows = []
    for label, mean, group in zip(labels, means, groups, strict=True):
        wait, jct, bsld = mean.tolist()
        ratios = [ratio_of_means(a, b) for a, b in zip(groups[0], group, strict=True)]
        over = wait / bound.wait_mean if bound.wait_mean > 0 else math.nan
        rows.append(Standing(label, wait, jct, bsld, over, *ratios))
    return tuple(rows)
