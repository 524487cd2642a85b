"""What a policy does on the part of a history that it was not trained on.

Every policy replays the whole trace, so that each finds the cluster as it left it itself; only
jobs of the last part are measured. Neighbouring jobs share their fate, so intervals come from
a bootstrap over blocks of consecutive jobs, the same blocks for all policies.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dovetail.agents.history import UNSEEN
from dovetail.domain.cluster import Cluster
from dovetail.domain.jobs import Floats
from dovetail.domain.metrics import bounded_slowdown
from dovetail.domain.policy import Estimates
from dovetail.domain.trace import Trace
from dovetail.evaluation.policy import Policy
from dovetail.evaluation.run import run
from dovetail.evaluation.statistics import Interval, ratio_of_means

BLOCKS = 40
"""Blocks of consecutive jobs that the bootstrap draws from."""


@dataclass(frozen=True, slots=True)
class Unseen:
    """Means over the unseen jobs, and the first policy's means as ratios to this one's."""

    label: str
    jobs: int
    wait: float
    jct: float
    bsld: float
    wait_ratio: Interval  # first policy / this one: below 1, the first is better
    jct_ratio: Interval
    bsld_ratio: Interval


def evaluate_unseen(
    trace: Trace,
    cluster: Cluster,
    policies: Sequence[Policy],
    estimates: Estimates,
    share: float = UNSEEN,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> list[Unseen]:
    """Measure policies on the last `share` of the trace, the first against the others."""
    first = len(trace) - max(1, round(share * len(trace)))
    measured = []
    for done, policy in enumerate(policies):
        schedule = run(trace, cluster, policy, estimates)
        rows = np.flatnonzero(schedule.ran & (np.arange(len(trace)) >= first))
        wait, length = schedule.wait[rows], schedule.run[rows]
        measured.append((wait, wait + length, bounded_slowdown(wait, length)))
        progress(done + 1, len(policies))
    return [
        _against(measured[0], values, policy.label(placement="best-fit"))
        for policy, values in zip(policies, measured, strict=True)
    ]


def _against(
    ours: tuple[Floats, Floats, Floats], theirs: tuple[Floats, Floats, Floats], label: str
) -> Unseen:
    wait, jct, bsld = (float(np.mean(values)) for values in theirs)
    wait_ratio, jct_ratio, bsld_ratio = (
        ratio_of_means(_blocks(a), _blocks(b)) for a, b in zip(ours, theirs, strict=True)
    )
    return Unseen(label, len(theirs[0]), wait, jct, bsld, wait_ratio, jct_ratio, bsld_ratio)


def _blocks(values: Floats) -> Floats:
    """Means of consecutive blocks of equal size; a rest that fills none is left out."""
    size = max(1, len(values) // BLOCKS)
    count = len(values) // size
    means: Floats = values[: count * size].reshape(count, size).mean(axis=1)
    return means
