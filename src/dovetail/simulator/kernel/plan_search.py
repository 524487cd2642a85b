"""When enough nodes can take the chunks of a job that Slurm's backfill plans, and which.

Every node names the earliest time that suits it; the n-th earliest of these is a bound that no
solution beats. Raise the time to it until the nodes agree. Each of 1,024 nodes is looked at for
each of millions of plans, so that what is asked of them lies side by side: for most, a plan is
either over or yet to begin.
"""

from __future__ import annotations

import math

from dovetail.compiled.functions import inner
from dovetail.simulator.kernel.calendar import follow
from dovetail.simulator.kernel.earliest import nth_time
from dovetail.simulator.kernel.node_space import after_holds
from dovetail.simulator.kernel.rows import World
from dovetail.simulator.kernel.state import (
    begins,
    first_holds,
    hold,
    hold_gaps,
    last_holds,
    node,
    ready_column,
    shape,
)

TO_SEE = -math.inf
"""Stands for the time of a node whose holds have to be gone through."""


@inner
def begin_cycle(w: World) -> None:
    """Note what nodes are kept for before anything is planned: to be closed."""
    for i in range(w.hold_count):
        note_holds(w, hold(w, i).node)


@inner
def end_cycle(w: World) -> None:
    for i in range(w.hold_count):
        first_holds(w)[hold(w, i).node], last_holds(w)[hold(w, i).node] = math.inf, -math.inf


@inner
def note_holds(w: World, number: int) -> None:
    """Note when a node's first hold begins, when its last one ends, and its longest gap between."""
    here, gap = hold(w, node(w, number).hold), 0.0
    first_holds(w)[number] = here.begin
    while here.next >= 0:
        gap = max(gap, hold(w, here.next).begin - here.end)
        here = hold(w, here.next)
    last_holds(w)[number] = here.end
    hold_gaps(w)[number] = gap + 1.0  # at least that: sums of times are rounded


@inner
def common_begin(w: World, at: int, length: float, wanted: int, limit: float) -> float:
    """The earliest time at which so many nodes can take a chunk of a shape, the lowest picked.

    inf: it is after a limit.
    """
    name_times(w, at, length)
    if wanted == 1:
        return _pick_first(w)
    begin = nth_time(w, wanted, w.now, limit)
    while begin < math.inf and not _agree(w, begin, length, wanted):
        begin = nth_time(w, wanted, w.now, limit)
    return begin


@inner
def name_times(w: World, at: int, length: float) -> None:
    """The earliest time that suits each node."""
    kinds, base = shape(w, at).kinds, follow(w, at) * w.node_count
    times, firsts, lasts, gaps = begins(w), first_holds(w), last_holds(w), hold_gaps(w)
    ready, now, between = ready_column(w), w.now, 0
    for number in range(w.node_count):  # without a branch, so that it becomes a vector loop
        begin = max(now, ready[base + number])
        held = (begin + length > firsts[number]) & (begin < lasts[number])
        walked = held & (length <= gaps[number])
        time = lasts[number] if held else begin
        times[number] = TO_SEE if walked else time
        between += walked
    number = 0
    while between > 0:
        if times[number] == TO_SEE:
            begin = max(now, ready[base + number])
            times[number] = after_holds(w, number, begin, length)
            between -= 1
        number += 1
    if kinds + 1 != 1 << w.kind_count:
        for number in range(w.node_count):
            if kinds >> node(w, number).kind & 1 == 0:
                times[number] = math.inf


@inner
def _pick_first(w: World) -> float:
    times, best = begins(w), 0
    first = times[0]
    for number in range(1, w.node_count):
        if times[number] < first:
            best, first = number, times[number]
    node(w, 0).picked = best
    return float(first)


@inner
def _agree(w: World, begin: float, length: float, wanted: int) -> bool:
    """Whether so many nodes can take the chunk at a time; the others name later ones."""
    times, firsts, lasts, gaps = begins(w), first_holds(w), last_holds(w), hold_gaps(w)
    end, found, between = begin + length, 0, 0
    for number in range(w.node_count):
        early = times[number] <= begin
        held = early & (end > firsts[number]) & (begin < lasts[number])
        walked = held & (length <= gaps[number])
        time = begin if early else times[number]
        time = lasts[number] if held else time
        times[number] = TO_SEE if walked else time
        found += early & (not held)
        between += walked
    number = 0
    while between > 0:
        if times[number] == TO_SEE:
            times[number] = after_holds(w, number, begin, length)
            found += times[number] == begin
            between -= 1
        number += 1
    return found >= wanted and _pick_lowest(w, begin, wanted)


@inner
def _pick_lowest(w: World, begin: float, wanted: int) -> bool:
    times, found = begins(w), 0
    for number in range(w.node_count):
        if times[number] == begin:
            node(w, found).picked = number
            found += 1
            if found == wanted:
                break
    return True
