"""Which node a chunk of GPUs prefers: the lowest number wins, ties go to the earlier node."""

from __future__ import annotations

from dovetail.domain.jobs import Ints
from dovetail.domain.policy import preferring

TIE = 65
"""One more than a node's GPUs can be: lets free GPUs break ties below a whole number."""


@preferring
def first_available(chunk: int, free: int, seen: Ints) -> float:
    return 0.0


@preferring
def best_fit(chunk: int, free: int, seen: Ints) -> float:
    return float(free)


@preferring
def worst_fit(chunk: int, free: int, seen: Ints) -> float:
    return -float(free)


@preferring
def fgd(chunk: int, free: int, seen: Ints) -> float:
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
