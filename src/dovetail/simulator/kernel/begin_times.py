"""The earliest time at which a job has room under conservative backfilling."""

from __future__ import annotations

import math

from dovetail.compiled.functions import inner
from dovetail.simulator.kernel import profile, rooms, set_search
from dovetail.simulator.kernel.claims import GAIN_LOG
from dovetail.simulator.kernel.demand_rows import Chunk
from dovetail.simulator.kernel.rows import World
from dovetail.simulator.kernel.state import (
    begins,
    claimants,
    gain,
    gain_bound,
    gained_at,
    gains_by,
    large,
    node_set,
    option,
    small,
)

ANEW = -1
"""Gains seen by a job that has not been looked at yet."""


@inner
def earliest_begin(
    w: World, number: int, length: float, limit: float, seen: int, after: float
) -> float:
    """The earliest time before a limit at which an option has room for so long; inf: none.

    A gang is known not to have any before `after`.
    """
    this = option(w, number)
    anew = seen == ANEW or w.gains - seen > GAIN_LOG
    if this.many + this.few > 1:
        # An earlier time must be one at which a set that has got room back takes a chunk. To look
        # at every node for every gang after every end was nearly all that passes did.
        if not anew and after == w.now:
            after = _begin_on_gains(w, this.large_kinds, large(w, number), length, limit, seen)
            if this.few > 0:
                kinds, chunk = this.small_kinds, small(w, number)
                after = min(after, _begin_on_gains(w, kinds, chunk, length, limit, seen))
        return _common_begin(w, number, after, length, limit) if after < limit else math.inf
    kinds, chunk = this.large_kinds, large(w, number)
    if not anew:
        return _begin_on_gains(w, kinds, chunk, length, limit, seen)
    set_search.name_times(w, kinds, chunk, w.now, length)
    best, times = math.inf, begins(w)
    for at in range(w.set_count):
        if times[at] < limit:
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
    """The same for one kind of chunk."""
    owners = claimants(w)
    for i in range(seen, w.gains):
        at = gain(w, i % GAIN_LOG).node_set
        if owners[at] == job:
            return True
        if node_set(w, at).kinds & kinds == 0:
            continue
        if profile.next_begin(w, at, chunk, w.now, length, 1, limit) < limit:
            return True
    return False


@inner
def gains_begin_before(
    w: World, which: int, number: int, length: float, limit: float, seen: int
) -> bool:
    """Whether a set that has got room back since takes a large chunk of an option before a limit.

    Many jobs ask for the same, for as long. What was found for one is a bound from below for the
    others, while what is promised takes room; sets that get room back are added to it.
    """
    known, this = gain_bound(w, which), option(w, number)
    kinds, chunk = this.large_kinds, large(w, number)
    if known.first > seen or known.first < w.looked_from:
        known.first = min(seen, w.looked_from)
        known.time, known.changes = -math.inf, -1
    elif known.gains < gains_by(w)[chunk.gpus] and known.time > -math.inf:
        begin = _begin_on_gains(w, kinds, chunk, length, known.time, known.last)
        known.time = min(known.time, begin)
    known.last, known.gains = w.gains, gains_by(w)[chunk.gpus]
    if limit <= known.time:
        return False
    if known.changes < w.set_changes and (this.many == 1 or known.time == -math.inf):
        known.time = _begin_on_gains(w, kinds, chunk, length, math.inf, known.first)
        known.changes = w.set_changes
    return known.time < limit


@inner
def _begin_on_gains(
    w: World, kinds: int, chunk: Chunk, length: float, limit: float, seen: int
) -> float:
    """The earliest time before a limit at which a set that has got room back since takes a chunk.

    Elsewhere nothing has become free since no earlier time was found.
    """
    best, lasts = math.inf, gained_at(w)
    for i in range(seen, w.gains):
        at = gain(w, i % GAIN_LOG).node_set
        if lasts[at] != i or gain(w, i % GAIN_LOG).gpus < chunk.gpus:
            continue
        if rooms.begins_by(w, at, chunk.gpus, length) < limit and node_set(w, at).kinds & kinds:
            best = min(best, profile.next_begin(w, at, chunk, w.now, length, 1, limit))
            limit = min(limit, best)
    return best


@inner
def _common_begin(w: World, number: int, after: float, length: float, limit: float) -> float:
    """The earliest time from `after` on at which enough nodes admit all chunks of an option."""
    this, begin = option(w, number), after
    while True:
        bound = set_search.common_begin(
            w, this.large_kinds, large(w, number), begin, length, this.many, limit
        )
        if this.few > 0 and bound < math.inf:
            kinds, every = this.small_kinds, this.many + this.few
            bound = set_search.common_begin(w, kinds, small(w, number), bound, length, every, limit)
        if this.few == 0 or bound == begin or bound == math.inf:
            return bound
        begin = bound
