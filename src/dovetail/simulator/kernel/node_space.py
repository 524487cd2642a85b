"""Whole nodes that jobs are to have in times to come: the table that Slurm's backfill plans in."""

from __future__ import annotations

import math

from dovetail.compiled.functions import inner
from dovetail.simulator.kernel.calendar import count_ready, follow
from dovetail.simulator.kernel.earliest import keep_earliest
from dovetail.simulator.kernel.rows import World
from dovetail.simulator.kernel.state import candidate, closure, hold, node, option, ready, shape


@inner
def clear(w: World) -> None:
    """Forget every plan; nodes that are to be closed stay kept."""
    for i in range(w.hold_count):
        node(w, hold(w, i).node).hold = -1
    w.hold_count, w.first_hold = 0, math.inf
    for at in range(w.closures_begun, w.closure_count):
        add_hold(w, closure(w, at).node, closure(w, at).begin, closure(w, at).end)


@inner
def add_hold(w: World, number: int, begin: float, end: float) -> None:
    """Keep a node for [begin, end); a node's holds are kept in order, those that meet as one.

    Plans mostly follow each other: one by one, each of a hundred was looked at for every job.
    """
    w.first_hold = min(w.first_hold, begin)
    before, at = -1, node(w, number).hold
    while at >= 0 and hold(w, at).end < begin:
        before, at = at, hold(w, at).next
    if at >= 0 and hold(w, at).begin <= end:
        _extend(w, at, begin, end)
        return
    new = w.hold_count
    w.hold_count += 1
    hold(w, new).node, hold(w, new).next = number, at
    hold(w, new).begin, hold(w, new).end = begin, end
    if before < 0:
        node(w, number).hold = new
    else:
        hold(w, before).next = new


@inner
def _extend(w: World, at: int, begin: float, end: float) -> None:
    """Let a hold last over [begin, end) too, as one with those after it that it then meets."""
    here = hold(w, at)
    here.begin, here.end = min(here.begin, begin), max(here.end, end)
    while here.next >= 0 and hold(w, here.next).begin <= here.end:
        here.end = max(here.end, hold(w, here.next).end)
        here.next = hold(w, here.next).next


@inner
def is_unplanned(w: World, number: int, begin: float, end: float) -> bool:
    """Whether nobody is to have the node at any moment of [begin, end)."""
    at = node(w, number).hold
    while at >= 0 and hold(w, at).begin < end:
        if hold(w, at).end > begin:
            return False
        at = hold(w, at).next
    return True


@inner
def next_begin(w: World, number: int, watcher: int, after: float, length: float) -> float:
    """The earliest time from `after` on at which a chunk may have a node for `length` seconds.

    Running jobs only give back: once the chunk fits, only plans can stand in its way.
    """
    return after_holds(w, number, max(after, ready(w, watcher, number).time), length)


@inner
def after_holds(w: World, number: int, begin: float, length: float) -> float:
    """The earliest time from `begin` on at which nobody is to have the node for so long."""
    at = node(w, number).hold
    while at >= 0 and hold(w, at).begin < begin + length:
        begin = max(begin, hold(w, at).end)
        at = hold(w, at).next
    return begin


@inner
def count_unplanned(w: World, at: int, begin: float, end: float) -> int:
    """Nodes that a chunk of a shape may have over [begin, end).

    How many are ready is known; only those that somebody is to have are looked at.
    """
    watcher, kinds = follow(w, at), shape(w, at).kinds
    found = count_ready(w, at, begin)
    for i in range(w.hold_count):
        number = hold(w, i).node
        if node(w, number).hold != i:  # every node once
            continue
        if kinds >> node(w, number).kind & 1 and ready(w, watcher, number).time <= begin:
            found -= not is_unplanned(w, number, begin, end)
    return found


@inner
def reserved_begin(w: World, number: int, begin: float, length: float) -> float:
    """As `common_begin`, where too few nodes are ready before `begin`: it mostly is that."""
    this = option(w, number)
    enough = count_unplanned(w, this.large_shape, begin, begin + length) >= this.many
    if enough and this.few > 0:
        found = count_unplanned(w, this.small_shape, begin, begin + length)
        enough = found >= this.many + this.few
    return begin if enough else common_begin(w, number, begin, length)


@inner
def common_begin(w: World, number: int, begin: float, length: float) -> float:
    """The earliest time from `begin` on at which enough nodes take all chunks of an option at once.

    Every node names the earliest time that suits it; the n-th earliest of these is a bound
    that no solution beats. Raise the time to it until the nodes agree.
    """
    this = option(w, number)
    while True:
        bound = _nth_begin(w, this.large_shape, begin, length, this.many)
        if this.few > 0:
            bound = max(bound, _nth_begin(w, this.small_shape, begin, length, this.many + this.few))
        if bound == begin:
            return begin
        begin = bound


@inner
def _nth_begin(w: World, at: int, after: float, length: float, n: int) -> float:
    """The n-th earliest of the times that suit the nodes."""
    watcher, kinds = follow(w, at), shape(w, at).kinds
    count, latest = 0, math.inf
    for number in range(w.node_count):
        if kinds >> node(w, number).kind & 1 == 0:
            continue
        begin = next_begin(w, number, watcher, after, length)
        if begin >= latest:
            continue
        count = keep_earliest(w, count, n, begin)
        if count == n:
            latest = candidate(w, 0).time
            if latest == after:  # none can be earlier
                break
    return latest


@inner
def pick_nodes(w: World, number: int, begin: float, length: float) -> int:
    """The lowest nodes that can take the option's chunks from `begin` on; returns how many."""
    this = option(w, number)
    count = _pick_lowest(w, this.large_shape, begin, length, 0, this.many)
    if this.few > 0:
        count = _pick_lowest(w, this.small_shape, begin, length, count, this.many + this.few)
    return count


@inner
def _pick_lowest(w: World, at: int, begin: float, length: float, count: int, wanted: int) -> int:
    watcher, kinds, already = follow(w, at), shape(w, at).kinds, count
    for number in range(w.node_count):
        if count == wanted:
            break
        if kinds >> node(w, number).kind & 1 == 0:
            continue
        taken = False
        for i in range(already):
            taken |= node(w, i).picked == number
        if not taken and next_begin(w, number, watcher, begin, length) == begin:
            node(w, count).picked = number
            count += 1
    return count
