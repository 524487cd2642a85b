"""When enough node sets can take the chunks of a gang that is promised a time.

Where every node is a set of its own, times that suit them lie side by side, as for Slurm's plans
(plan_search.py): all 1,024 sets were gone through for each of five million questions over RICC's
first 40,000 jobs.
"""

from __future__ import annotations

import math

from dovetail.compiled.functions import inner
from dovetail.simulator.kernel import profile, rooms
from dovetail.simulator.kernel.demand_rows import Chunk
from dovetail.simulator.kernel.earliest import keep_earliest, nth_time
from dovetail.simulator.kernel.promise_rows import Promise
from dovetail.simulator.kernel.rows import World
from dovetail.simulator.kernel.state import (
    begins,
    candidate,
    claim,
    first_ends,
    first_rooms,
    last_rooms,
    node_set,
    room_gaps,
    second_rooms,
)


@inner
def are_nodes(w: World) -> bool:
    """Whether every node set is a single node."""
    return w.set_count == w.node_count


@inner
def common_begin(
    w: World, kinds: int, chunk: Chunk, after: float, length: float, n: int, limit: float
) -> float:
    """The earliest time from `after` on at which so many chunks have room for so long.

    inf: it is not before a limit. Every set names the earliest time that suits it; the n-th
    earliest of these is a bound that no solution beats. Raise the time to it until they agree.
    """
    if not are_nodes(w):
        begin = after
        while True:
            bound = _nth_begin(w, kinds, chunk, begin, length, n, limit)
            if bound == begin or bound == math.inf:
                return bound
            begin = bound
    name_times(w, kinds, chunk, after, length)
    while True:
        begin = nth_time(w, n, after, limit if limit < math.inf else _latest(w))
        if begin >= limit or _can_begin(w, chunk, begin, length, n, limit):
            return begin if begin < limit else math.inf


@inner
def name_times(w: World, kinds: int, chunk: Chunk, after: float, length: float) -> None:
    """Bounds from below for the times that suit the sets."""
    rooms.refresh(w, chunk.gpus)
    times, firsts, lasts, gaps = begins(w), first_rooms(w), last_rooms(w), room_gaps(w)
    ends, seconds, base = first_ends(w), second_rooms(w), chunk.gpus * w.set_count
    for number in range(w.set_count):
        at = base + number
        times[number] = rooms.bound(
            firsts[at], ends[at], seconds[at], lasts[at], gaps[at], after, length
        )
    if kinds + 1 != 1 << w.kind_count:
        for number in range(w.set_count):
            if node_set(w, number).kinds & kinds == 0:
                times[number] = math.inf


@inner
def _latest(w: World) -> float:
    """The latest of the times named."""
    times, latest = begins(w), -math.inf
    for number in range(w.set_count):
        latest = max(latest, times[number] if times[number] < math.inf else -math.inf)
    return latest


@inner
def _can_begin(w: World, chunk: Chunk, begin: float, length: float, n: int, limit: float) -> bool:
    """Whether so many sets have room at a time; those that have not name later ones."""
    times, base, found = begins(w), chunk.gpus * w.set_count, 0
    for number in range(w.set_count):
        if times[number] <= begin:
            time = rooms.UNKNOWN
            if is_whole(w, number, chunk):
                time = rooms.known_begin(w, base + number, begin, length)
            if time == rooms.UNKNOWN:
                time = profile.next_begin(w, number, chunk, begin, length, 1, limit)
            times[number] = time
            if times[number] == begin:
                found += 1
                if found == n:
                    return True
    return False


@inner
def is_whole(w: World, number: int, chunk: Chunk) -> bool:
    """Whether a chunk takes all GPUs of a set: with these, nothing else of it can be short."""
    return node_set(w, number).gpus == chunk.gpus and not w.mixed


@inner
def count_lacking(w: World, kinds: int, chunk: Chunk, length: float, n: int, kept: Promise) -> int:
    """How many sets a gang lacks at least to begin before the time that it is promised.

    What it is to have itself is not in its way.
    """
    name_times(w, kinds, chunk, w.now, length)
    times, limit, found = begins(w), kept.time, 0
    for number in range(w.set_count):
        found += times[number] < limit
    at = kept.claim
    while at >= 0 and found < n:
        own = claim(w, at).node_set
        if times[own] >= limit:
            found += profile.begins_earlier(w, own, chunk, length, limit)
        at = claim(w, at).next
    return n - found


@inner
def _nth_begin(
    w: World, kinds: int, chunk: Chunk, after: float, length: float, n: int, limit: float
) -> float:
    """The n-th earliest of the times that suit the nodes, where some are given out whole."""
    count, latest = 0, limit
    for number in range(w.set_count):
        if rooms.begins_by(w, number, chunk.gpus, length) >= latest:
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
