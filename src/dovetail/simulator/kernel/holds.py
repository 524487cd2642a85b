"""Reservations over intervals, for conservative backfilling: what a node has left, and when."""

from __future__ import annotations

import math

from dovetail.compiled.functions import inner
from dovetail.simulator.kernel.calendar import expected_end
from dovetail.simulator.kernel.rows import Chunk, World
from dovetail.simulator.kernel.state import candidate, hold, large, node, option, slot, small


@inner
def clear(w: World) -> None:
    """Forget every hold."""
    for number in range(w.node_count):
        node(w, number).hold = -1
    w.hold_count = 0


@inner
def add_hold(w: World, number: int, chunk: Chunk, begin: float, end: float) -> None:
    """Keep a chunk of a node for [begin, end)."""
    new = hold(w, w.hold_count)
    new.begin, new.end = begin, end
    new.gpus, new.cpus, new.memory = chunk.gpus, chunk.cpus, chunk.memory
    new.next = node(w, number).hold
    node(w, number).hold = w.hold_count
    w.hold_count += 1


@inner
def _covers(w: World, number: int, chunk: Chunk, moment: float) -> bool:
    """Whether a chunk fits on a node at one moment."""
    here = node(w, number)
    gpus, cpus, memory = here.gpus, here.cpus, here.memory
    for i in range(here.running):
        if expected_end(w, number, i) <= moment:
            own = slot(w, number, i)
            gpus, cpus, memory = gpus + own.gpus, cpus + own.cpus, memory + own.memory
    at = here.hold
    while at >= 0:
        kept = hold(w, at)
        if kept.begin <= moment < kept.end:
            gpus, cpus, memory = gpus - kept.gpus, cpus - kept.cpus, memory - kept.memory
        at = kept.next
    return gpus >= chunk.gpus and cpus >= chunk.cpus and memory >= chunk.memory


@inner
def admits(w: World, number: int, chunk: Chunk, begin: float, end: float) -> bool:
    """Whether a chunk fits on a node all through [begin, end).

    Running jobs only give back, so that room can shrink only where a hold begins.
    """
    if not _covers(w, number, chunk, begin):
        return False
    at = node(w, number).hold
    while at >= 0:
        kept = hold(w, at)
        if begin < kept.begin < end and not _covers(w, number, chunk, kept.begin):
            return False
        at = kept.next
    return True


@inner
def next_begin(
    w: World, number: int, chunk: Chunk, after: float, length: float, limit: float
) -> float:
    """The earliest time from `after` on at which a node admits a chunk for `length` seconds.

    From `limit` on the exact time does not matter.
    """
    begin = after
    while begin < limit and not admits(w, number, chunk, begin, begin + length):
        soonest = math.inf  # room can grow only where a job or a hold ends
        for i in range(node(w, number).running):
            expected = expected_end(w, number, i)
            if begin < expected < soonest:
                soonest = expected
        at = node(w, number).hold
        while at >= 0:
            kept = hold(w, at)
            if begin < kept.end < soonest:
                soonest = kept.end
            at = kept.next
        begin = soonest
    return begin


@inner
def common_begin(w: World, number: int, length: float) -> float:
    """The earliest time at which enough nodes admit all chunks of an option at once.

    Every node names the earliest time that suits it; the n-th earliest of these is a bound
    that no solution beats. Raise the time to it until the nodes agree.
    """
    this = option(w, number)
    begin = w.now
    while True:
        bound = _nth_begin(w, this.large_kinds, large(w, number), begin, length, this.many)
        if this.few > 0:
            every = this.many + this.few
            other = _nth_begin(w, this.small_kinds, small(w, number), begin, length, every)
            bound = max(bound, other)
        if bound == begin:
            return begin
        begin = bound


@inner
def _nth_begin(w: World, kinds: int, chunk: Chunk, after: float, length: float, n: int) -> float:
    """The n-th earliest of the times that suit the nodes; the n earliest are kept in order."""
    count, limit = 0, math.inf
    for number in range(w.node_count):
        if kinds >> node(w, number).kind & 1 == 0:
            continue
        begin = next_begin(w, number, chunk, after, length, limit)
        if begin >= limit:
            continue
        count = min(count + 1, n)
        at = count - 1
        while at > 0 and candidate(w, at - 1).time > begin:
            candidate(w, at).time = candidate(w, at - 1).time
            at -= 1
        candidate(w, at).time = begin
        if count == n:
            limit = candidate(w, n - 1).time
            if limit == after:  # none can be earlier
                break
    return candidate(w, n - 1).time


@inner
def pick_nodes(w: World, number: int, begin: float, length: float) -> int:
    """The lowest nodes that admit the option's chunks from `begin` on; returns how many."""
    this = option(w, number)
    count = _pick_lowest(w, this.large_kinds, large(w, number), begin, length, 0, this.many)
    every = this.many + this.few
    return _pick_lowest(w, this.small_kinds, small(w, number), begin, length, count, every)


@inner
def hold_nodes(w: World, number: int, begin: float, length: float) -> None:
    """Hold the lowest nodes that admit the option's chunks from `begin` on."""
    this = option(w, number)
    for i in range(pick_nodes(w, number, begin, length)):
        chunk = large(w, number) if i < this.many else small(w, number)
        add_hold(w, node(w, i).picked, chunk, begin, begin + length)


@inner
def _pick_lowest(
    w: World, kinds: int, chunk: Chunk, begin: float, length: float, count: int, wanted: int
) -> int:
    already = count
    for number in range(w.node_count):
        if count == wanted:
            break
        if kinds >> node(w, number).kind & 1 == 0:
            continue
        taken = False
        for i in range(already):
            taken |= node(w, i).picked == number
        if not taken and admits(w, number, chunk, begin, begin + length):
            node(w, count).picked = number
            count += 1
    return count
