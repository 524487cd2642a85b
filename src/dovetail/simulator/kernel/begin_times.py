"""The earliest time at which a job has room under conservative backfilling."""

from __future__ import annotations

import math

from dovetail.compiled.functions import inner
from dovetail.simulator.kernel import profile, rooms
from dovetail.simulator.kernel.claims import GAIN_LOG
from dovetail.simulator.kernel.demand_rows import Chunk
from dovetail.simulator.kernel.earliest import keep_earliest
from dovetail.simulator.kernel.rows import World
from dovetail.simulator.kernel.state import (
    candidate,
    claimants,
    gain,
    large,
    node_set,
    option,
    small,
)

ANEW = -1
"""Gains seen by a job that has not been looked at yet."""


@inner
def earliest_begin(w: World, number: int, length: float, limit: float, seen: int) -> float:
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
    best, base = math.inf, chunk.gpus * w.set_count
    for at in range(w.set_count):
        if not rooms.is_late(w, base + at, length, limit) and node_set(w, at).kinds & kinds:
            best = min(best, profile.next_begin(w, at, chunk, w.now, length, 1, limit))
            limit = min(limit, best)
    return best


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
    for i in range(seen, w.gains):
        at = gain(w, i % GAIN_LOG).node_set
        if owners[at] == job:
            return True
        if rooms.is_late(w, base + at, length, limit) or node_set(w, at).kinds & kinds == 0:
            continue
        if profile.next_begin(w, at, chunk, w.now, length, 1, limit) < limit:
            return True
    return False


@inner
def _begin_on_gains(
    w: World, kinds: int, chunk: Chunk, length: float, limit: float, seen: int
) -> float:
    """The earliest time before a limit at which a set that has got room back since takes a chunk.

    Elsewhere nothing has become free since no earlier time was found.
    """
    best, base = math.inf, chunk.gpus * w.set_count
    for i in range(seen, w.gains):
        at = gain(w, i % GAIN_LOG).node_set
        if not rooms.is_late(w, base + at, length, limit) and node_set(w, at).kinds & kinds:
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
    """The n-th earliest of the times that suit the nodes."""
    count, latest, base = 0, limit, chunk.gpus * w.set_count
    for number in range(w.set_count):
        if rooms.is_late(w, base + number, length, latest):
            continue
        here = node_set(w, number)
        if here.kinds & kinds == kinds and here.chunks > 1 and not w.eventful:
            return profile.next_begin(w, number, chunk, after, length, n, limit)
        if here.kinds & kinds == 0:
            continue
        for wanted in range(1, min(n, here.chunks) + 1):
            begin = profile.next_begin(w, number, chunk, after, length, wanted, latest)
            if begin == math.inf:
                break
            count = keep_earliest(w, count, n, begin)
            latest = candidate(w, 0).time if count == n else limit
    return candidate(w, 0).time if count == n else math.inf
