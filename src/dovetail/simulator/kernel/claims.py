"""What promises of conservative backfilling take of node sets, and who has got room back."""

from __future__ import annotations

import math

from dovetail.compiled.functions import inner
from dovetail.simulator.kernel import profile, rooms, set_search
from dovetail.simulator.kernel.demand_rows import Chunk
from dovetail.simulator.kernel.promise_rows import Candidate, Promise
from dovetail.simulator.kernel.rows import World
from dovetail.simulator.kernel.state import (
    begins,
    candidate,
    claim,
    gain,
    gained_at,
    gains_by,
    large,
    node_set,
    option,
    small,
)

GAIN_LOG = 65536
"""Gains remembered; who has missed more looks at every node set. Passes over RICC's first 100,000
jobs have thousands."""


@inner
def note_gain(w: World, number: int, begin: float, end: float) -> None:
    """A node set has got room back for [begin, end).

    It helps nobody who asks for more GPUs than it has in that time: most nodes that get room back
    have none for gangs.
    """
    most = min(w.most_gpus, profile.most_gpus(w, number, begin, end))
    for gpus in range(most + 1):
        gains_by(w)[gpus] += 1
    before = gained_at(w)[number]
    if before >= w.looked_from and w.gains - before < GAIN_LOG:  # the last of a set tells all
        most = max(most, gain(w, before % GAIN_LOG).gpus)
    new = gain(w, w.gains % GAIN_LOG)
    new.node_set, new.gpus = number, most
    gained_at(w)[number] = w.gains
    w.gains += 1


@inner
def give(
    w: World, number: int, begin: float, end: float, gpus: int, cpus: int, memory: int
) -> None:
    """Of nodes given out whole only the GPUs are counted: what goes with them is never short."""
    if node_set(w, number).chunks > 1:
        profile.give(w, number, begin, end, gpus, 0, 0)
    else:
        profile.give(w, number, begin, end, gpus, cpus, memory)


@inner
def count(w: World, kept: Promise, by: int) -> None:
    """Give back (1) or take again (-1) what a promise takes."""
    at = kept.claim
    while at >= 0:
        this = claim(w, at)
        gpus, cpus, memory = by * this.gpus, by * this.cpus, by * this.memory
        give(w, this.node_set, kept.time, kept.end, gpus, cpus, memory)
        at = this.next


@inner
def drop(w: World, kept: Promise) -> int:
    """Forget a claim that has been given back; returns its node set."""
    at = kept.claim
    kept.claim = claim(w, at).next
    claim(w, at).next = w.free_claim
    w.free_claim = at
    return claim(w, at).node_set


@inner
def drop_all(w: World, kept: Promise) -> None:
    """Forget all that a promise took, for others to have."""
    while kept.claim >= 0:
        note_gain(w, drop(w, kept), kept.time, kept.end)


@inner
def choose(w: World, kept: Promise, number: int, seen: int) -> None:
    """Choose what a promise takes in an option."""
    this = option(w, number)
    if this.many + this.few > 1 or seen < w.looked_from or w.gains - seen > GAIN_LOG:
        seen = -1
    _claim_chunks(w, kept, this.large_kinds, large(w, number), this.many, seen)
    if this.few > 0:
        _claim_chunks(w, kept, this.small_kinds, small(w, number), this.few, seen)


@inner
def _claim_chunks(
    w: World, kept: Promise, kinds: int, chunk: Chunk, wanted: int, seen: int
) -> None:
    """Of the node sets with room all the time, those that get it latest: so what is free long
    before stays whole for others. Then those with the fewest GPUs left, then the lower.

    A single chunk that may begin earlier than before can do so only on a set that has got room back
    since; -1: all are looked at.
    """
    count, length = 0, kept.end - kept.time
    if seen >= 0:
        for i in range(seen, w.gains):
            number = gain(w, i % GAIN_LOG).node_set
            if gained_at(w)[number] != i or node_set(w, number).kinds & kinds == 0:
                continue
            if rooms.begins_by(w, number, chunk.gpus, length) <= kept.time:
                count = _consider(w, kept, chunk, wanted, number, count)
    else:
        set_search.name_times(w, kinds, chunk, kept.time, length)
        times = begins(w)
        for number in range(w.set_count):
            if times[number] <= kept.time and not _has_claim(w, kept, number):
                count = _consider(w, kept, chunk, wanted, number, count)
    if not set_search.are_nodes(w):  # else each gives one chunk, and any order will do
        _sort_best(w, count)
    for i in range(count):
        found = candidate(w, i)
        chunks = min(found.chunks, wanted)
        if chunks > 0:
            _add_claim(w, kept, found.node_set, chunk, chunks)
            wanted -= chunks


@inner
def _consider(w: World, kept: Promise, chunk: Chunk, wanted: int, number: int, count: int) -> int:
    """Keep a node set among the best if it has room; how many there are."""
    if set_search.is_whole(w, number, chunk):
        place = chunk.gpus * w.set_count + number
        since = rooms.known_since(w, place, kept.time, kept.end)
        if since == math.inf:
            return count
        if since > rooms.UNKNOWN:
            return _keep_best(w, count, wanted, since, chunk.gpus, number, 1)
    chunks, since, gpus = profile.look(w, number, chunk, kept.time, kept.end)
    return _keep_best(w, count, wanted, since, gpus, number, chunks) if chunks > 0 else count


@inner
def _keep_best(
    w: World, count: int, most: int, since: float, gpus: int, number: int, chunks: int
) -> int:
    """Keep a set among so many best ones, in a heap with the worst of them first; how many it has.

    In a sorted list gangs of hundreds of nodes cost as many steps per node.
    """
    if count == most:
        if _is_better(since, gpus, number, candidate(w, 0)):
            _sink(w, count, since, gpus, number, chunks)
        return count
    at = count
    while at > 0 and not _is_better(since, gpus, number, candidate(w, (at - 1) >> 1)):
        _copy_candidate(w, (at - 1) >> 1, at)
        at = (at - 1) >> 1
    _set_candidate(w, at, since, gpus, number, chunks)
    return count + 1


@inner
def _sort_best(w: World, count: int) -> None:
    """Make a list of the heap: the worst goes to the end."""
    for last in range(count - 1, 0, -1):
        worst, moved = candidate(w, 0), candidate(w, last)
        since, gpus, number, chunks = worst.time, worst.gpus, worst.node_set, worst.chunks
        _sink(w, last, moved.time, moved.gpus, moved.node_set, moved.chunks)
        _set_candidate(w, last, since, gpus, number, chunks)


@inner
def _sink(w: World, count: int, since: float, gpus: int, number: int, chunks: int) -> None:
    """Put a set in the place of the worst, and then where it belongs."""
    at, child = 0, 1
    while child < count:
        if child + 1 < count and not _precedes(w, child + 1, child):
            child += 1
        if not _is_better(since, gpus, number, candidate(w, child)):
            break
        _copy_candidate(w, child, at)
        at, child = child, 2 * child + 1
    _set_candidate(w, at, since, gpus, number, chunks)


@inner
def _precedes(w: World, one: int, other: int) -> bool:
    this = candidate(w, one)
    return _is_better(this.time, this.gpus, this.node_set, candidate(w, other))


@inner
def _is_better(since: float, gpus: int, number: int, other: Candidate) -> bool:
    if since != other.time:
        return since > other.time
    return gpus < other.gpus or (gpus == other.gpus and number < other.node_set)


@inner
def _copy_candidate(w: World, one: int, other: int) -> None:
    source = candidate(w, one)
    _set_candidate(w, other, source.time, source.gpus, source.node_set, source.chunks)


@inner
def _set_candidate(w: World, at: int, since: float, gpus: int, number: int, chunks: int) -> None:
    this = candidate(w, at)
    this.time, this.gpus, this.node_set, this.chunks = since, gpus, number, chunks


@inner
def _has_claim(w: World, kept: Promise, number: int) -> bool:
    """Whether a promise takes something of a node set already."""
    at = kept.claim
    while at >= 0:
        if claim(w, at).node_set == number:
            return True
        at = claim(w, at).next
    return False


@inner
def _add_claim(w: World, kept: Promise, number: int, chunk: Chunk, chunks: int) -> None:
    at = w.free_claim
    if at >= 0:
        w.free_claim = claim(w, at).next
    else:
        at = w.claims_used
        w.claims_used += 1
    new = claim(w, at)
    new.node_set, new.next = number, kept.claim
    new.gpus, new.cpus, new.memory = chunks * chunk.gpus, chunks * chunk.cpus, chunks * chunk.memory
    kept.claim = at
