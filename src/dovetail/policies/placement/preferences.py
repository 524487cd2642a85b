"""Which node a chunk of GPUs prefers: the lowest number wins, ties go to the earlier node."""

from __future__ import annotations

import math

from dovetail.domain.jobs import Floats, Ints
from dovetail.domain.policy import preferring

TIE = 65
"""One more than a node's GPUs can be: lets free GPUs break ties below a whole number."""

BRIEF = 600.0
"""Seconds: differences below it hardly count."""


@preferring
def first_available(p: Floats, chunk: int, free: int, run: float, busy: float, seen: Ints) -> float:
    return 0.0


@preferring
def best_fit(p: Floats, chunk: int, free: int, run: float, busy: float, seen: Ints) -> float:
    return float(free)


@preferring
def worst_fit(p: Floats, chunk: int, free: int, run: float, busy: float, seen: Ints) -> float:
    return -float(free)


@preferring
def fgd(p: Floats, chunk: int, free: int, run: float, busy: float, seen: Ints) -> float:
    """Fragmentation gradient descent: how much the chunk adds to the expected waste.

    GPUs free on a node are wasted for a job that asks for more than these. The waste expected
    of `f` free GPUs is f times the number of jobs seen that would not fit in them.
    """
    left = free - chunk
    wider_than_free = 0
    for size in range(free + 1, len(seen)):
        wider_than_free += seen[size]
    wider_than_left = wider_than_free
    for size in range(left + 1, free + 1):
        wider_than_left += seen[size]
    return float((left * wider_than_left - free * wider_than_free) * TIE + free)


@preferring
def lifetime(p: Floats, chunk: int, free: int, run: float, busy: float, seen: Ints) -> float:
    """Nodes that stay busy anyway: few free GPUs, and the job hardly delays their being idle.

    p: what a free GPU counts, and what counts that the node is idle later, or would be anyway
    after the job has ended; both in logarithms of time.
    """
    later, sooner = max(0.0, run - busy), max(0.0, busy - run)
    delay, rest = math.log(1.0 + later / BRIEF), math.log(1.0 + sooner / BRIEF)
    return p[0] * free + p[1] * delay + p[2] * rest
