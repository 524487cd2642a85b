"""The nodes that can take a chunk the earliest, for Slurm's plans: heaps by (time, node).

Many jobs of a cycle ask for the same, for as long. Looking at every node for each of them was most
of a cycle. Within a cycle what starts and what is planned only takes room: a time found once is a
bound from below from then on, and only the first of a heap has to be looked at again.
"""

from __future__ import annotations

import math

from dovetail.compiled.functions import inner
from dovetail.simulator.kernel import plan_search
from dovetail.simulator.kernel.calendar import follow
from dovetail.simulator.kernel.node_space import next_begin
from dovetail.simulator.kernel.promise_rows import Opening
from dovetail.simulator.kernel.rows import World
from dovetail.simulator.kernel.state import begins, node, opening_heap, openings

SLACK = 1800.0
"""Seconds beyond the window for which plans are worked out: how long jobs stay left out of it."""

HEAPS = 64
"""Shapes and lengths of a cycle that get heaps; the others are looked for node by node."""

MOST_NODES = 8
"""Of a gang that takes its nodes from a heap: to look at all nodes side by side costs as much."""


@inner
def clear(w: World) -> None:
    """A new cycle plans anew."""
    w.opening_heap_count = 0


@inner
def heap_of(w: World, at: int, length: float) -> int:
    """The heap of a shape and a length, made when they are asked for again; -1: there is none."""
    for number in range(w.opening_heap_count):
        this = opening_heap(w, number)
        if this.shape == at and this.length == length:
            if this.size < 0:
                this.size = 0
                _build(w, number)
            return number
    if w.opening_heap_count < HEAPS:
        this = opening_heap(w, w.opening_heap_count)
        this.shape, this.length, this.size = at, length, -1
        w.opening_heap_count += 1
    return -1


@inner
def _build(w: World, number: int) -> None:
    """All nodes that can take the chunk by the end of the window: later is too late to be planned.

    Looked at one by one they cost as much as what heaps spared.
    """
    this = opening_heap(w, number)
    plan_search.name_times(w, this.shape, this.length)
    times, limit = begins(w), w.now + w.cycle_window + SLACK
    for at in range(w.node_count):
        if times[at] <= limit:
            here = _opening(w, number, this.size)
            here.time, here.node = times[at], at
            this.size += 1
    for at in range((this.size >> 1) - 1, -1, -1):
        _sink(w, number, at)


@inner
def earliest(w: World, number: int, wanted: int) -> tuple[float, bool]:
    """When so many nodes can take the chunk, and whether they can at the same time.

    Then the lowest that can are picked; else the time is only a bound from below.
    """
    this = opening_heap(w, number)
    if this.size < wanted:
        return math.inf, True
    watcher = follow(w, this.shape)
    _renew_first(w, number, watcher)
    if wanted == 1:
        node(w, 0).picked = _opening(w, number, 0).node
        return _opening(w, number, 0).time, True
    whole, begin = this.size, w.now
    while whole - this.size < wanted or (this.size > 0 and _first_time(w, number) == begin):
        begin = _opening(w, number, 0).time
        _take_first(w, number)
        if this.size > 0:
            _renew_first(w, number, watcher)
    able = 0
    for at in range(this.size, whole):
        found = _opening(w, number, at).node
        if next_begin(w, found, watcher, begin, this.length) == begin:
            _pick(w, found, able, wanted)
            able += 1
    while this.size < whole:
        this.size += 1
        _rise(w, number, this.size - 1)
    return begin, able >= wanted


@inner
def _pick(w: World, found: int, able: int, wanted: int) -> None:
    """Keep the lowest nodes, in order."""
    at = min(able, wanted)
    while at > 0 and node(w, at - 1).picked > found:
        if at < wanted:
            node(w, at).picked = node(w, at - 1).picked
        at -= 1
    if at < wanted:
        node(w, at).picked = found


@inner
def _first_time(w: World, number: int) -> float:
    return _opening(w, number, 0).time if opening_heap(w, number).size > 0 else math.inf


@inner
def _renew_first(w: World, number: int, watcher: int) -> None:
    """Look at the first of a heap again until it is where it belongs."""
    first = _opening(w, number, 0)
    while True:
        time = next_begin(w, first.node, watcher, w.now, opening_heap(w, number).length)
        if time == first.time:
            return
        first.time = time
        _sink(w, number, 0)


@inner
def _take_first(w: World, number: int) -> None:
    """Put the first of a heap behind it."""
    this = opening_heap(w, number)
    this.size -= 1
    first, last = _opening(w, number, 0), _opening(w, number, this.size)
    first.time, last.time = last.time, first.time
    first.node, last.node = last.node, first.node
    _sink(w, number, 0)


@inner
def _opening(w: World, number: int, at: int) -> Opening:
    return openings(w, number * w.node_count + at)


@inner
def _sink(w: World, number: int, at: int) -> None:
    size, moved = opening_heap(w, number).size, _opening(w, number, at)
    time, which = moved.time, moved.node
    while 2 * at + 1 < size:
        child = _opening(w, number, 2 * at + 1)
        below = 2 * at + 1
        if below + 1 < size:
            other = _opening(w, number, below + 1)
            if _precedes(other.time, other.node, child):
                below += 1
        child = _opening(w, number, below)
        if _precedes(time, which, child):
            break
        here = _opening(w, number, at)
        here.time, here.node = child.time, child.node
        at = below
    here = _opening(w, number, at)
    here.time, here.node = time, which


@inner
def _rise(w: World, number: int, at: int) -> None:
    moved = _opening(w, number, at)
    time, which = moved.time, moved.node
    while at > 0 and _precedes(time, which, _opening(w, number, (at - 1) >> 1)):
        parent, here = _opening(w, number, (at - 1) >> 1), _opening(w, number, at)
        here.time, here.node = parent.time, parent.node
        at = (at - 1) >> 1
    here = _opening(w, number, at)
    here.time, here.node = time, which


@inner
def _precedes(time: float, which: int, other: Opening) -> bool:
    return time < other.time or (time == other.time and which < other.node)
