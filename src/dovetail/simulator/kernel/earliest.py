"""The n earliest of many times: a heap with the latest of them first."""

from __future__ import annotations

from dovetail.compiled.functions import inner
from dovetail.simulator.kernel.rows import World
from dovetail.simulator.kernel.state import candidate


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
