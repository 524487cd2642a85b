"""What promises of conservative backfilling take of node sets, and who has got room back."""

from __future__ import annotations

from dovetail.compiled.functions import inner
from dovetail.simulator.kernel import profile, rooms
from dovetail.simulator.kernel.demand_rows import Chunk
from dovetail.simulator.kernel.promise_rows import Candidate, Promise
from dovetail.simulator.kernel.rows import World
from dovetail.simulator.kernel.state import candidate, claim, gain, large, node_set, option, small

GAIN_LOG = 1024
"""Gains remembered; who has missed more looks at every node set."""


@inner
def note_gain(w: World, number: int) -> None:
    """A node set has got room back."""
    gain(w, w.gains % GAIN_LOG).node_set = number
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
        note_gain(w, drop(w, kept))


@inner
def choose(w: World, kept: Promise, number: int) -> None:
    """Choose what a promise takes in an option."""
    this = option(w, number)
    _claim_chunks(w, kept, this.large_kinds, large(w, number), this.many)
    if this.few > 0:
        _claim_chunks(w, kept, this.small_kinds, small(w, number), this.few)


@inner
def _claim_chunks(w: World, kept: Promise, kinds: int, chunk: Chunk, wanted: int) -> None:
    """Of the node sets with room all the time, those that get it latest: so what is free long
    before stays whole for others. Then those with the fewest GPUs left, then the lower."""
    count, length = 0, kept.end - kept.time
    for number in range(w.set_count):
        if rooms.begins_by(w, number, chunk.gpus, length) > kept.time:
            continue
        if node_set(w, number).kinds & kinds == 0 or _has_claim(w, kept, number):
            continue
        chunks, since, gpus = profile.look(w, number, chunk, kept.time, kept.end)
        if chunks == 0:
            continue
        at = count
        while at > 0 and _is_better(since, gpus, candidate(w, at - 1)):
            if at < wanted:
                _copy_candidate(w, at - 1, at)
            at -= 1
        if at < wanted:
            new = candidate(w, at)
            new.time, new.gpus, new.node_set, new.chunks = since, gpus, number, chunks
            count = min(count + 1, wanted)
    for i in range(count):
        found = candidate(w, i)
        chunks = min(found.chunks, wanted)
        if chunks > 0:
            _add_claim(w, kept, found.node_set, chunk, chunks)
            wanted -= chunks


@inner
def _is_better(since: float, gpus: int, other: Candidate) -> bool:
    return since > other.time or (since == other.time and gpus < other.gpus)


@inner
def _copy_candidate(w: World, one: int, other: int) -> None:
    source, target = candidate(w, one), candidate(w, other)
    target.time, target.gpus = source.time, source.gpus
    target.node_set, target.chunks = source.node_set, source.chunks


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
