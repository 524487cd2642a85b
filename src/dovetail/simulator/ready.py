"""When nodes will be free by estimate, kept in tournament trees and searched best first.

A reservation asks for the n nodes that have g GPUs free the earliest. Sorting the running jobs
in every pass costs tens of microseconds; here a change of a node costs one walk up a tree per
chunk size, and a search costs n walks down.
"""

from __future__ import annotations

import math

from dovetail.domain.compiled import inner
from dovetail.simulator.rows import Chunk, World
from dovetail.simulator.state import frontier, kind, level, match, node, release, run_of, slot


@inner
def expected_end(w: World, number: int, at: int) -> float:
    """Estimated end of the job in a slot."""
    return run_of(w, slot(w, number, at).job).expected


@inner
def refresh(w: World) -> None:
    """Bring times and trees up to date for every node that changed since the last search."""
    for i in range(w.stale_count):
        number = node(w, i).stale_node
        here = node(w, number)
        here.stale = False
        _release_times(w, number)
        for gpus in range(1, kind(w, here.kind).gpus + 1):
            if level(w, here.kind, gpus).tree >= 0:
                _replay(w, number, gpus)
    w.stale_count = 0


@inner
def _release_times(w: World, number: int) -> None:
    """When so many GPUs of a node are free, from the estimated ends of its jobs."""
    here = node(w, number)
    have = here.gpus
    for gpus in range(have + 1):
        release(w, number, gpus).time = -math.inf
    _sort_slots(w, number)
    for at in range(here.running):
        when = expected_end(w, number, at)
        freed = slot(w, number, at).gpus
        for gpus in range(have + 1, have + freed + 1):
            release(w, number, gpus).time = when
        have += freed


@inner
def _sort_slots(w: World, number: int) -> None:
    """By estimated end; insertion sort, as a node has few jobs and they are nearly sorted."""
    for i in range(1, node(w, number).running):
        at = i
        while at > 0 and expected_end(w, number, at - 1) > expected_end(w, number, at):
            one, other = slot(w, number, at - 1), slot(w, number, at)
            one.job, other.job = other.job, one.job
            one.gpus, other.gpus = other.gpus, one.gpus
            one.cpus, other.cpus = other.cpus, one.cpus
            one.memory, other.memory = other.memory, one.memory
            at -= 1


@inner
def _replay(w: World, number: int, gpus: int) -> None:
    """Play a node's matches again, up to the root, or until nothing changes."""
    here = node(w, number)
    tree = level(w, here.kind, gpus).tree
    at = kind(w, here.kind).leaves + here.place
    match(w, tree + at).node = number
    at >>= 1
    while at >= 1:
        left, right = match(w, tree + 2 * at).node, match(w, tree + 2 * at + 1).node
        if right < 0 or (left >= 0 and release(w, left, gpus).time <= release(w, right, gpus).time):
            winner = left
        else:
            winner = right
        unchanged = match(w, tree + at).node == winner and winner != number
        match(w, tree + at).node = winner
        if unchanged:
            return
        at >>= 1


@inner
def ready_time(w: World, number: int, chunk: Chunk) -> float:
    """When a chunk fits on a node by estimate, CPUs and memory included; -inf: now."""
    when = release(w, number, chunk.gpus).time
    if chunk.cpus == 0 and chunk.memory == 0:
        return when
    here = node(w, number)
    cpus, memory = here.cpus, here.memory
    at = 0
    while at < here.running and (
        cpus < chunk.cpus or memory < chunk.memory or expected_end(w, number, at) <= when
    ):
        cpus += slot(w, number, at).cpus  # slots are in order of estimated end
        memory += slot(w, number, at).memory
        when = max(when, expected_end(w, number, at))
        at += 1
    return when


@inner
def earliest_nodes(w: World, kinds: int, chunk: Chunk, wanted: int, already: int) -> float:
    """The `wanted` nodes that can host the chunk the earliest, by (time, node).

    Appends them to the picked nodes after the `already` ones there, which are passed over, and
    returns the latest of their times. The frontier holds subtrees under their winner, and
    single nodes whose exact time is known; the best of it is opened until enough are found.
    """
    size = 0
    for number in range(w.kind_count):
        if kinds >> number & 1:
            size = _push(w, size, level(w, number, chunk.gpus).tree + 1, chunk.gpus)
    found, latest = 0, -math.inf
    while found < wanted:
        best = frontier(w, 0)
        when, number, at = best.time, best.node, best.at
        size = _pop(w, size)
        if at < 0:
            if not _picked(w, number, already):
                node(w, already + found).picked = number
                found += 1
                latest = when
            continue
        of = node(w, number).kind
        tree = level(w, of, chunk.gpus).tree
        if at - tree >= kind(w, of).leaves:
            size = _insert(w, size, ready_time(w, number, chunk), number, -1)
        else:
            child = tree + 2 * (at - tree)
            size = _push(w, size, child, chunk.gpus)
            size = _push(w, size, child + 1, chunk.gpus)
    return latest


@inner
def _picked(w: World, number: int, already: int) -> bool:
    found = False
    for i in range(already):
        found |= node(w, i).picked == number
    return found


@inner
def _push(w: World, size: int, at: int, gpus: int) -> int:
    winner = match(w, at).node
    if winner < 0:
        return size
    return _insert(w, size, release(w, winner, gpus).time, winner, at)


@inner
def _precedes(time: float, number: int, other_time: float, other_number: int) -> bool:
    return time < other_time or (time == other_time and number < other_number)


@inner
def _insert(w: World, size: int, time: float, number: int, at: int) -> int:
    hole = size
    while hole > 0:
        parent = frontier(w, (hole - 1) >> 1)
        if not _precedes(time, number, parent.time, parent.node):
            break
        here = frontier(w, hole)
        here.time, here.node, here.at = parent.time, parent.node, parent.at
        hole = (hole - 1) >> 1
    here = frontier(w, hole)
    here.time, here.node, here.at = time, number, at
    return size + 1


@inner
def _pop(w: World, size: int) -> int:
    size -= 1
    moved = frontier(w, size)
    time, number, at = moved.time, moved.node, moved.at
    hole = 0
    while 2 * hole + 1 < size:
        child = 2 * hole + 1
        left, right = frontier(w, child), frontier(w, child + 1)
        if child + 1 < size and _precedes(right.time, right.node, left.time, left.node):
            child += 1
        below = frontier(w, child)
        if not _precedes(below.time, below.node, time, number):
            break
        here = frontier(w, hole)
        here.time, here.node, here.at = below.time, below.node, below.at
        hole = child
    here = frontier(w, hole)
    here.time, here.node, here.at = time, number, at
    return size
