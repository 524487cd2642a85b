"""The n earliest of many times: a heap with the latest of them first; times side by side."""

from __future__ import annotations

import math

from dovetail.compiled.functions import inner
from dovetail.simulator.kernel.rows import World
from dovetail.simulator.kernel.state import begins, candidate

HALVINGS = 6


@inner
def keep_earliest(w: World, count: int, n: int, time: float) -> int:
    """Keep a time among the n earliest, in the place of the latest if these are complete.

    Returns how many are kept; the first candidate is the latest. In a sorted list the gangs of a
    thousand nodes cost as many steps per node.
    """
    if count < n:
        at = count
        while at > 0 and candidate(w, (at - 1) >> 1).time < time:
            candidate(w, at).time = candidate(w, (at - 1) >> 1).time
            at = (at - 1) >> 1
        candidate(w, at).time = time
        return count + 1
    at, child = 0, 1
    while child < n:
        if child + 1 < n and candidate(w, child + 1).time > candidate(w, child).time:
            child += 1
        if candidate(w, child).time <= time:
            break
        candidate(w, at).time = candidate(w, child).time
        at, child = child, 2 * child + 1
    candidate(w, at).time = time
    return n


@inner
def nth_time(w: World, wanted: int, low: float, limit: float) -> float:
    """The n-th earliest of the times that nodes have named, none of them before `low`.

    inf: it is after a limit. Halves what lies between until few times are left: to count is a
    vector loop, and a heap of the n earliest of a thousand was a third of all that cycles of
    Slurm's backfill did.
    """
    times, high = begins(w), limit
    if _count_by(w, high) < wanted:
        return math.inf
    before = _count_by(w, low)
    if before >= wanted:
        return low
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        count = _count_by(w, middle)
        if count >= wanted:
            high = middle
        else:
            low, before = middle, count
    count, latest = 0, high
    for number in range(w.node_count):
        if low < times[number] <= latest:
            count = keep_earliest(w, count, wanted - before, times[number])
            if count == wanted - before:
                latest = candidate(w, 0).time
    return latest


@inner
def _count_by(w: World, time: float) -> int:
    times, count = begins(w), 0
    for number in range(w.node_count):
        count += times[number] <= time
    return count
