"""How many nodes could take a chunk of a gang at once before it is to begin: a bound from above.

The time up to then is cut into slots. Who could begin within a slot at all counts there: a node
whose room is over by then is told from one that gets it later. Of 938,000 searches for an earlier
time that were in vain over RICC's first 40,000 jobs most had nodes enough, but never at once.
"""

from __future__ import annotations

import math
from typing import Any

from dovetail.compiled.functions import inner
from dovetail.simulator.kernel import profile
from dovetail.simulator.kernel.allocation import fits
from dovetail.simulator.kernel.demand_rows import Chunk
from dovetail.simulator.kernel.promise_rows import Promise
from dovetail.simulator.kernel.rows import World
from dovetail.simulator.kernel.state import (
    begins,
    claim,
    claimants,
    first_ends,
    first_rooms,
    last_rooms,
    room_gaps,
    second_rooms,
    slot_counts,
    step,
)

SLOTS = 256
"""Up to the time that a gang is promised. Of what passes, three in four do begin earlier."""

ROUNDING = 1.0
"""Seconds; sums of times are rounded."""


@inner
def count_at_once(w: World, chunk: Chunk, length: float, n: int, kept: Promise, job: int) -> int:
    """The most nodes that could begin with a chunk in one slot before a promised time.

    The nodes have named bounds for their times (set_search.py). What the job is to have itself,
    marked as its own, is not in its way. Where they are enough, the promise is told
    the first such time.
    """
    counts, limit, base = slot_counts(w), kept.time, chunk.gpus * w.set_count
    for slot in range(SLOTS + 1):
        counts[slot] = 0
    owners, firsts, lasts, gaps = claimants(w), first_rooms(w), last_rooms(w), room_gaps(w)
    ends, seconds, times, now = first_ends(w), second_rooms(w), begins(w), w.now
    scale = SLOTS / (limit - now)
    for number in range(w.set_count):
        place = base + number
        if owners[number] == job:
            if firsts[place] < limit:
                _count_room(w, number, chunk, length, limit, True)
        elif times[number] >= limit:
            continue
        elif length > gaps[place]:
            if lasts[place] < limit:
                _count(counts, now, scale, lasts[place], limit)
        elif seconds[place] < lasts[place] and seconds[place] < limit:
            _count_room(w, number, chunk, length, limit, False)
        else:
            _count(counts, now, scale, firsts[place], min(limit, ends[place] - length))
            if lasts[place] < limit and firsts[place] < lasts[place]:
                _count(counts, now, scale, lasts[place], limit)
    most, count, first = 0, 0, -1
    for slot in range(SLOTS):
        count += counts[slot]
        most = max(most, count)
        if first < 0 and count >= n:
            first = slot
    kept.after = max(w.now, w.now + first * (limit - w.now) / SLOTS - ROUNDING)
    return most


@inner
def mark_own(w: World, kept: Promise, job: int) -> None:
    """Mark the node sets that a job is to have."""
    at = kept.claim
    while at >= 0:
        claimants(w)[claim(w, at).node_set] = job
        at = claim(w, at).next


@inner
def _count_room(
    w: World, number: int, chunk: Chunk, length: float, limit: float, own: bool
) -> None:
    """Count a node in wherever it has room for so long from a time before the limit on."""
    at, since = profile.current(w, number), math.inf
    counts, now, scale = slot_counts(w), w.now, SLOTS / (limit - w.now)
    while at >= 0 and step(w, at).time < limit:
        if fits(step(w, at), chunk):
            if since == math.inf:
                since = step(w, at).time
        elif since < math.inf:
            _count(counts, now, scale, since, step(w, at).time - length)
            since = math.inf
        at = step(w, at).next
    if since == math.inf:
        return
    last = limit
    if not own:
        while at >= 0 and fits(step(w, at), chunk):
            at = step(w, at).next
        if at >= 0:
            last = min(limit, step(w, at).time - length)
    _count(counts, now, scale, since, last)


@inner
def _count(counts: Any, now: float, scale: float, first: float, last: float) -> None:
    """Count a node in that could begin from one time to another, none of them after the limit."""
    first, last = max(first, now), last + ROUNDING
    if last >= first:
        counts[min(SLOTS - 1, int((first - now) * scale))] += 1
        counts[min(SLOTS - 1, int((last - now) * scale)) + 1] -= 1
