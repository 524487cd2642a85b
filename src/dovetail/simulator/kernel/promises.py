"""Promises of conservative backfilling: when waiting jobs are to start, and what that takes."""

from __future__ import annotations

import math

from dovetail.compiled.functions import inner
from dovetail.simulator.kernel import profile
from dovetail.simulator.kernel.rows import Candidate, Chunk, Promise, World
from dovetail.simulator.kernel.state import (
    candidate,
    claim,
    demand,
    gain,
    job_facts,
    large,
    node,
    node_set,
    option,
    part,
    promise,
    run_of,
    slot,
    small,
    waiting,
)

NO_PROMISE = math.inf
ANEW = -1
"""Gains seen by a job that has not been looked at yet."""

GAIN_LOG = 1024
"""Gains remembered; who has missed more looks at every node set."""


@inner
def forget_all(w: World) -> None:
    """Take every promise back: running jobs alone count, each up to its estimated end."""
    profile.clear(w)
    w.claims_used, w.free_claim, w.next_promise = 0, -1, NO_PROMISE
    for number in range(w.node_count):
        for at in range(node(w, number).running):
            own = slot(w, number, at)
            expected = run_of(w, own.job).expected
            _give(w, node(w, number).node_set, w.now, expected, -own.gpus, -own.cpus, -own.memory)
    rows = waiting(w)
    for i in range(w.active_count):
        mine = demand(w, demand(w, i).active)
        for at in range(mine.low, mine.high):
            promise(w, rows[at]).time, promise(w, rows[at]).claim = NO_PROMISE, -1


@inner
def _give(
    w: World, number: int, begin: float, end: float, gpus: int, cpus: int, memory: int
) -> None:
    """Of nodes given out whole only the GPUs are counted: what goes with them is never short."""
    if node_set(w, number).chunks > 1:
        profile.give(w, number, begin, end, gpus, 0, 0)
    else:
        profile.give(w, number, begin, end, gpus, cpus, memory)


@inner
def note_gain(w: World, number: int) -> None:
    """A node set has got room back."""
    gain(w, w.gains % GAIN_LOG).node_set = number
    w.gains += 1


@inner
def note_start(w: World, job: int) -> None:
    """Count in a job that has just started."""
    mine = run_of(w, job)
    for at in range(mine.part_first, mine.part_first + mine.part_count):
        number = part(w, at).node
        own = slot(w, number, node(w, number).running - 1)
        _give(w, node(w, number).node_set, w.now, mine.expected, -own.gpus, -own.cpus, -own.memory)
    kept = promise(w, job)
    while kept.claim >= 0:
        claimed, had = claim(w, kept.claim), _held_on(w, job, claim(w, kept.claim).node_set)
        less = had[0] < claimed.gpus or had[1] < claimed.cpus
        number = _drop_claim(w, kept)
        if less:
            note_gain(w, number)


@inner
def _held_on(w: World, job: int, number: int) -> tuple[int, int]:
    """GPUs and CPUs of a node set that a job has which has just started."""
    mine, gpus, cpus = run_of(w, job), 0, 0
    for at in range(mine.part_first, mine.part_first + mine.part_count):
        here = node(w, part(w, at).node)
        if here.node_set == number:
            gpus += slot(w, part(w, at).node, here.running - 1).gpus
            cpus += slot(w, part(w, at).node, here.running - 1).cpus
    return gpus, cpus


@inner
def note_end(w: World, job: int, number: int) -> None:
    """Count out the chunk of a job that is about to leave a node."""
    w.ended = True
    expected = run_of(w, job).expected
    if w.extended or expected <= w.now:
        return
    at = 0
    while slot(w, number, at).job != job:
        at += 1
    own = slot(w, number, at)
    _give(w, node(w, number).node_set, w.now, expected, own.gpus, own.cpus, own.memory)
    note_gain(w, node(w, number).node_set)


@inner
def _count_claims(w: World, kept: Promise, by: int) -> None:
    """Give back (1) or take again (-1) what a promise takes."""
    at = kept.claim
    while at >= 0:
        this = claim(w, at)
        gpus, cpus, memory = by * this.gpus, by * this.cpus, by * this.memory
        _give(w, this.node_set, kept.time, kept.end, gpus, cpus, memory)
        at = this.next


@inner
def _drop_claim(w: World, kept: Promise) -> int:
    """Forget a claim that has been given back; returns its node set."""
    at = kept.claim
    kept.claim = claim(w, at).next
    claim(w, at).next = w.free_claim
    w.free_claim = at
    return claim(w, at).node_set


@inner
def _drop_claims(w: World, kept: Promise) -> None:
    """Forget all that a promise took, for others to have."""
    while kept.claim >= 0:
        note_gain(w, _drop_claim(w, kept))


@inner
def release(w: World, job: int) -> None:
    """Give back what a promise takes, before its job starts or forgets it."""
    _count_claims(w, promise(w, job), 1)


@inner
def forget(w: World, job: int) -> None:
    """A job has no promise any more."""
    _drop_claims(w, promise(w, job))
    promise(w, job).time = NO_PROMISE


@inner
def make(w: World, job: int) -> None:
    """Promise the earliest time possible; where that is now, the job has to start at once."""
    seen = w.gains
    _promise_before(w, job, NO_PROMISE, ANEW)
    promise(w, job).seen = seen


@inner
def bring_forward(w: World, job: int) -> None:
    """Promise an earlier time if there is one now; else everything stays as it is."""
    kept = promise(w, job)
    if kept.seen == w.gains:
        return
    _count_claims(w, kept, 1)
    seen = w.gains
    if not _promise_before(w, job, kept.time, kept.seen):
        _count_claims(w, kept, -1)
    kept.seen = seen


@inner
def _promise_before(w: World, job: int, limit: float, seen: int) -> bool:
    """Promise the earliest time, if it is before a limit, in the first option that has it."""
    kept, mine = promise(w, job), demand(w, run_of(w, job).demand)
    estimate, best = job_facts(w, job).reserve, -1
    for number in range(mine.option_first, mine.option_last):
        begin = _begin(w, number, estimate / option(w, number).speed, limit, seen)
        if begin < limit:
            best, limit = number, begin
    if best < 0:
        return False
    _drop_claims(w, kept)
    kept.time, kept.end = limit, limit + estimate / option(w, best).speed
    if limit > w.now:
        _claim_nodes(w, kept, best)
        _count_claims(w, kept, -1)
        w.next_promise = min(w.next_promise, limit)
    return True


@inner
def _begin(w: World, number: int, length: float, limit: float, seen: int) -> float:
    """The earliest time before a limit at which an option has room for so long; inf: none."""
    this = option(w, number)
    anew = seen == ANEW or w.gains - seen > GAIN_LOG
    if this.many + this.few > 1:
        # An earlier time must be one at which a set that has got room back takes a chunk. To look
        # at every node for every gang after every end was nearly all that passes did.
        after = w.now
        if not anew:
            after = _begin_on_gains(w, this.large_kinds, large(w, number), length, limit, seen)
            if this.few > 0:
                kinds, chunk = this.small_kinds, small(w, number)
                after = min(after, _begin_on_gains(w, kinds, chunk, length, limit, seen))
        return _common_begin(w, number, after, length, limit) if after < limit else math.inf
    kinds, chunk = this.large_kinds, large(w, number)
    if not anew:
        return _begin_on_gains(w, kinds, chunk, length, limit, seen)
    best = math.inf
    for at in range(w.set_count):
        if node_set(w, at).kinds & kinds:
            best = min(best, profile.next_begin(w, at, chunk, w.now, length, 1, limit))
            limit = min(limit, best)
    return best


@inner
def _begin_on_gains(
    w: World, kinds: int, chunk: Chunk, length: float, limit: float, seen: int
) -> float:
    """The earliest time before a limit at which a set that has got room back since takes a chunk.

    Elsewhere nothing has become free since no earlier time was found.
    """
    best = math.inf
    for i in range(seen, w.gains):
        at = gain(w, i % GAIN_LOG).node_set
        if node_set(w, at).kinds & kinds:
            best = min(best, profile.next_begin(w, at, chunk, w.now, length, 1, limit))
            limit = min(limit, best)
    return best


@inner
def _common_begin(w: World, number: int, after: float, length: float, limit: float) -> float:
    """The earliest time from `after` on at which enough nodes admit all chunks of an option.

    Every node names the earliest time that suits it; the n-th earliest of these is a bound
    that no solution beats. Raise the time to it until the nodes agree.
    """
    this = option(w, number)
    begin = after
    while True:
        bound = _nth_begin(w, this.large_kinds, large(w, number), begin, length, this.many, limit)
        if this.few > 0 and bound < math.inf:
            kinds, every = this.small_kinds, this.many + this.few
            other = _nth_begin(w, kinds, small(w, number), begin, length, every, limit)
            bound = max(bound, other)
        if bound == begin or bound == math.inf:
            return bound
        begin = bound


@inner
def _nth_begin(
    w: World, kinds: int, chunk: Chunk, after: float, length: float, n: int, limit: float
) -> float:
    """The n-th earliest of the times that suit the nodes; the n earliest are kept in order."""
    count = 0
    for number in range(w.set_count):
        here = node_set(w, number)
        if here.kinds & kinds == kinds and here.chunks > 1:
            return profile.next_begin(w, number, chunk, after, length, n, limit)
        if here.kinds & kinds == 0:
            continue
        for wanted in range(1, min(n, here.chunks) + 1):
            latest = candidate(w, n - 1).time if count == n else limit
            begin = profile.next_begin(w, number, chunk, after, length, wanted, latest)
            if begin == math.inf:
                break
            count = min(count + 1, n)
            at = count - 1
            while at > 0 and candidate(w, at - 1).time > begin:
                candidate(w, at).time = candidate(w, at - 1).time
                at -= 1
            candidate(w, at).time = begin
    return candidate(w, n - 1).time if count == n else math.inf


@inner
def _claim_nodes(w: World, kept: Promise, number: int) -> None:
    """Choose what a promise takes in an option."""
    this = option(w, number)
    _claim_chunks(w, kept, this.large_kinds, large(w, number), this.many)
    if this.few > 0:
        _claim_chunks(w, kept, this.small_kinds, small(w, number), this.few)


@inner
def _claim_chunks(w: World, kept: Promise, kinds: int, chunk: Chunk, wanted: int) -> None:
    """Of the node sets with room all the time, those that get it latest: so what is free long
    before stays whole for others. Then those with the fewest GPUs left, then the lower."""
    count = 0
    for number in range(w.set_count):
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


@inner
def earliest(w: World) -> float:
    """The earliest time that anybody is promised."""
    rows, soonest = waiting(w), NO_PROMISE
    for i in range(w.active_count):
        mine = demand(w, demand(w, i).active)
        for at in range(mine.low, mine.high):
            soonest = min(soonest, promise(w, rows[at]).time)
    return soonest


# -- what may start now ---------------------------------------------------------------------


@inner
def leaves_room(w: World, number: int, chunk: Chunk, end: float) -> bool:
    """Whether a chunk on a node from now on leaves what is promised to others."""
    at = node(w, number).node_set
    chunks, _, _ = profile.look(w, at, chunk, w.now, end)
    return chunks > node_set(w, at).spent


@inner
def enough_room(w: World, kinds: int, chunk: Chunk, end: float, wanted: int) -> bool:
    """Whether so many chunks of a job may start now on nodes of some kinds."""
    found = 0
    for number in range(w.set_count):
        if node_set(w, number).kinds & kinds:
            chunks, _, _ = profile.look(w, number, chunk, w.now, end)
            found += chunks
            if found >= wanted:
                return True
    return False


@inner
def spend(w: World, number: int) -> None:
    """Note that a chunk of the job in hand is to go on a node."""
    node_set(w, node(w, number).node_set).spent += 1


@inner
def forget_spent(w: World) -> None:
    for number in range(w.set_count):
        node_set(w, number).spent = 0
