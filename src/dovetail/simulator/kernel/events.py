"""Completions and overruns to come: a binary heap ordered by (time, code)."""

from __future__ import annotations

from dovetail.compiled.functions import inner
from dovetail.simulator.kernel.rows import World
from dovetail.simulator.kernel.state import event


@inner
def _before(time: float, code: int, other_time: float, other_code: int) -> bool:
    return time < other_time or (time == other_time and code < other_code)


@inner
def push(w: World, time: float, code: int) -> None:
    """Add an event."""
    hole = w.pending
    w.pending += 1
    while hole > 0:
        parent = event(w, (hole - 1) >> 1)
        if not _before(time, code, parent.time, parent.code):
            break
        here = event(w, hole)
        here.time, here.code = parent.time, parent.code
        hole = (hole - 1) >> 1
    here = event(w, hole)
    here.time, here.code = time, code


@inner
def pop(w: World) -> int:
    """Take the earliest event out; returns its code."""
    first = event(w, 0).code
    w.pending -= 1
    last = event(w, w.pending)
    _sink(w, 0, last.time, last.code)
    return first


@inner
def cancel(w: World, code: int) -> None:
    """Take an event out wherever it is: only failures of nodes do this."""
    at = 0
    while event(w, at).code != code:
        at += 1
    while at > 0:  # its ancestors move down, so that it leaves from the top
        parent, here = event(w, (at - 1) >> 1), event(w, at)
        here.time, here.code = parent.time, parent.code
        at = (at - 1) >> 1
    pop(w)


@inner
def _sink(w: World, hole: int, time: float, code: int) -> None:
    """Put an event into a hole, or below it."""
    size = w.pending
    while 2 * hole + 1 < size:
        child = 2 * hole + 1
        left, right = event(w, child), event(w, child + 1)
        if child + 1 < size and _before(right.time, right.code, left.time, left.code):
            child += 1
        below = event(w, child)
        if not _before(below.time, below.code, time, code):
            break
        here = event(w, hole)
        here.time, here.code = below.time, below.code
        hole = child
    here = event(w, hole)
    here.time, here.code = time, code
