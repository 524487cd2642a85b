"""The earliest time at which a job has room under conservative backfilling."""

from __future__ import annotations

import math

from dovetail.compiled.functions import inner
from dovetail.simulator.kernel import profile, rooms
from dovetail.simulator.kernel.earliest import keep_earliest
from dovetail.simulator.kernel.rows import Chunk, World
from dovetail.simulator.kernel.state import (
    candidate,
    claimants,
    large,
    node_set,
    option,
    small,
)

ANEW = -1
"""Gains seen by a job that has not been looked at yet."""

NOBODY = -2
"""Stands for a job whose claims are not there, or have been given back."""


@inner
def earliest_begin(w: World, number: int, length: float, limit: float, seen: int) -> float:
    """The earliest time before a limit at which an option has room for so long; inf: none."""
    this = option(w, number)
    if this.many + this.few > 1:
        # An earlier time must be one at which a set that has got room back takes a chunk. To look
        # at every node for every gang after every end was nearly all that passes did.
        after = w.now
        if seen != ANEW:
            after = _begin_on_gains(w, this.large_kinds, large(w, number), length, limit, seen)
            if this.few > 0:
                kinds, chunk = this.small_kinds, small(w, number)
                after = min(after, _begin_on_gains(w, kinds, chunk, length, limit, seen))
        if after >= limit:
            return math.inf
        return _common_begin(w, number, after, length, limit, NOBODY)
    kinds, chunk = this.large_kinds, large(w, number)
    if seen != ANEW:
        return _begin_on_gains(w, kinds, chunk, length, limit, seen)
    best, base = math.inf, chunk.gpus * w.set_count
    for at in range(w.set_count):
        if not rooms.is_late(w, base + at, length, limit) and node_set(w, at).kinds & kinds:
            best = min(best, profile.next_begin(w, at, chunk, w.now, length, 1, limit))
            limit = min(limit, best)
    return best


@inner
def earlier_begin(w: World, number: int, length: float, time: float, job: int) -> float:
    """The earliest time before that of a job's promise at which its only option, with chunks of one
    size, has room for so long; inf: none. What the job is to have counts as given back, and is not
    touched.

    After a search in vain `lacking` says how many node sets more it would have taken.
    """
    return _common_begin(w, number, w.now, length, time, job)


@inner
def gains_help(w: World, number: int, length: float, limit: float, seen: int, job: int) -> bool:
    """Whether a set that has got room back since takes a chunk of an option before a limit, or is
    one where the job has claims."""
    this = option(w, number)
    if _any_takes(w, this.large_kinds, large(w, number), length, limit, seen, job):
        return True
    return this.few > 0 and _any_takes(
        w, this.small_kinds, small(w, number), length, limit, seen, job
    )


@inner
def _any_takes(
    w: World, kinds: int, chunk: Chunk, length: float, limit: float, seen: int, job: int
) -> bool:
    """The same for one kind of chunk: 50 sets for each waiting job after every end, of which nearly
    none helps."""
    owners, base = claimants(w), chunk.gpus * w.set_count
    at = w.first_gained
    while at >= 0 and node_set(w, at).gained > seen:
        if owners[at] == job:
            return True
        if not rooms.is_late(w, base + at, length, limit) and node_set(w, at).kinds & kinds:
            if profile.next_begin(w, at, chunk, w.now, length, 1, limit) < limit:
                return True
        at = node_set(w, at).older
    return False


@inner
def count_takers(
    w: World, number: int, length: float, time: float, seen: int, job: int, most: int
) -> tuple[int, float]:
    """How many sets that have got room back since take a chunk before the time of a job's promise,
    counted up to `most`, and when the first of these does.

    On sets of its own what the job is to have counts as given back.
    """
    kinds, chunk = option(w, number).large_kinds, large(w, number)
    owners, base = claimants(w), chunk.gpus * w.set_count
    found, soonest, limit, at = 0, math.inf, time, w.first_gained
    while at >= 0 and node_set(w, at).gained > seen:
        begin = math.inf
        if owners[at] == job:
            begin = profile.begin_before(w, at, chunk, w.now, length, limit, time)
        elif not rooms.is_late(w, base + at, length, limit) and node_set(w, at).kinds & kinds:
            begin = profile.next_begin(w, at, chunk, w.now, length, 1, limit)
        if begin < limit:
            found += 1
            soonest = min(soonest, begin)
            if option(w, number).many == 1:
                limit = soonest
            elif found == most:
                break
        at = node_set(w, at).older
    return found, soonest


@inner
def _begin_on_gains(
    w: World, kinds: int, chunk: Chunk, length: float, limit: float, seen: int
) -> float:
    """The earliest time before a limit at which a set that has got room back since takes a chunk.

    Elsewhere nothing has become free since no earlier time was found.
    """
    best, base, at = math.inf, chunk.gpus * w.set_count, w.first_gained
    while at >= 0 and node_set(w, at).gained > seen:
        if not rooms.is_late(w, base + at, length, limit) and node_set(w, at).kinds & kinds:
            best = min(best, profile.next_begin(w, at, chunk, w.now, length, 1, limit))
            limit = min(limit, best)
        at = node_set(w, at).older
    return best


@inner
def _common_begin(
    w: World, number: int, after: float, length: float, limit: float, job: int
) -> float:
    """The earliest time from `after` on at which enough nodes admit all chunks of an option.

    Every node names the earliest time that suits it; the n-th earliest of these is a bound
    that no solution beats. Raise the time to it until the nodes agree.
    """
    this = option(w, number)
    begin, chunk = after, large(w, number)
    while True:
        bound = _nth_begin(w, this.large_kinds, chunk, begin, length, this.many, limit, job)
        if this.few > 0 and bound < math.inf:
            kinds, every = this.small_kinds, this.many + this.few
            other = _nth_begin(w, kinds, small(w, number), begin, length, every, limit, job)
            bound = max(bound, other)
        if bound == math.inf and begin > after:
            w.lacking = 1  # before this time others may have sufficed but for one
        if bound == begin or bound == math.inf:
            return bound
        begin = bound


@inner
def _nth_begin(
    w: World, kinds: int, chunk: Chunk, after: float, length: float, n: int, limit: float, job: int
) -> float:
    """The n-th earliest of the times that suit the nodes; inf: it is not before the limit, and
    `lacking` says how many more would have to name one."""
    count, latest, base, owners = 0, limit, chunk.gpus * w.set_count, claimants(w)
    for number in range(w.set_count):
        own = owners[number] == job
        if not own and rooms.is_late(w, base + number, length, latest):
            continue
        here = node_set(w, number)
        if here.kinds & kinds == kinds and here.chunks > 1 and not w.eventful:
            return profile.next_begin(w, number, chunk, after, length, n, limit)
        if here.kinds & kinds == 0:
            continue
        for wanted in range(1, min(n, here.chunks) + 1):
            if own:
                begin = profile.begin_before(w, number, chunk, after, length, latest, limit)
            else:
                begin = profile.next_begin(w, number, chunk, after, length, wanted, latest)
            if begin == math.inf:
                break
            count = keep_earliest(w, count, n, begin)
            latest = candidate(w, 0).time if count == n else limit
    w.lacking = n - count
    return candidate(w, 0).time if count == n else math.inf
