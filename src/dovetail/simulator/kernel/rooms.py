"""When node sets have so many GPUs left at all, and for how long: no look at their steps is needed.

Of the sets that RICC's gangs ask under conservative backfilling one in 26 has room in time: for
10,000 jobs 188 million sets were gone through step by step, and 128 million more after ends. What
is known of all sets for a number of GPUs lies side by side, for loops over all of them.
"""

from __future__ import annotations

import math

from dovetail.compiled.functions import inner
from dovetail.simulator.kernel.rows import World
from dovetail.simulator.kernel.state import (
    changed_at,
    changed_sets,
    first_ends,
    first_rooms,
    last_rooms,
    node_set,
    room_gaps,
    rooms_known,
    rooms_seen,
    second_rooms,
    step,
)

UNKNOWN = -math.inf

ROUNDING = 1.0
"""Seconds by which room may be longer than it is noted: sums of times are rounded."""

CHANGE_LOG = 4096
"""Changes of sets remembered; who has missed more looks at every one."""


@inner
def forget(w: World, number: int) -> None:
    """What is left of a node set has changed."""
    changed_sets(w)[w.set_changes % CHANGE_LOG] = number
    changed_at(w)[number] = w.set_changes
    w.set_changes += 1


@inner
def refresh(w: World, gpus: int) -> None:
    """Look again at all sets that have changed since that was done for so many GPUs."""
    seen = rooms_seen(w)[gpus]
    if w.set_changes - seen > CHANGE_LOG:
        for number in range(w.set_count):
            _look_again(w, number, gpus)
    else:
        for at in range(seen, w.set_changes):
            _look_again(w, changed_sets(w)[at % CHANGE_LOG], gpus)
    rooms_seen(w)[gpus] = w.set_changes


@inner
def begins_by(w: World, number: int, gpus: int, length: float) -> float:
    """A bound from below for the time at which a node set has so many GPUs for so long."""
    _look_again(w, number, gpus)
    place, now = gpus * w.set_count + number, w.now
    first, end, second = first_rooms(w)[place], first_ends(w)[place], second_rooms(w)[place]
    return bound(first, end, second, last_rooms(w)[place], room_gaps(w)[place], now, length)


@inner
def bound(
    first: float, end: float, second: float, last: float, gap: float, after: float, length: float
) -> float:
    """The same from a time on for a set of which this is known; without a branch, for loops over
    all sets."""
    begin = max(first, after)
    fitting = begin if begin + length <= end + ROUNDING else max(second, after)
    return max(last, after) if length > gap else fitting


@inner
def known_begin(w: World, place: int, after: float, length: float) -> float:
    """The earliest time from `after` on with so many GPUs for so long; UNKNOWN: steps have to be
    gone through. Nearly all sets have room for a gang once before they always have."""
    begin = max(first_rooms(w)[place], after)
    if begin + length <= first_ends(w)[place]:
        return float(begin)
    if second_rooms(w)[place] >= last_rooms(w)[place]:
        return float(max(last_rooms(w)[place], after))
    return UNKNOWN


@inner
def known_since(w: World, place: int, begin: float, end: float) -> float:
    """From when on there are so many GPUs up to the end of [begin, end); inf: there are not."""
    if first_rooms(w)[place] <= begin and end <= first_ends(w)[place]:
        return float(max(first_rooms(w)[place], w.now))
    if last_rooms(w)[place] <= begin:
        return float(max(last_rooms(w)[place], w.now))
    return math.inf if second_rooms(w)[place] >= last_rooms(w)[place] else UNKNOWN


@inner
def _look_again(w: World, number: int, gpus: int) -> None:
    """Note when a node set first has so many GPUs, from when on it always has, and for how long in
    between at most, if it has changed; what is over by now does no harm."""
    place = gpus * w.set_count + number
    if rooms_known(w)[place] > changed_at(w)[number]:
        return
    first, end, second, since, longest = math.inf, math.inf, math.inf, math.inf, 0.0
    at = node_set(w, number).first
    while at >= 0:
        have = step(w, at)
        if have.gpus < gpus:
            if since < math.inf:
                longest = max(longest, have.time - since)
                end = min(end, have.time)
            since = math.inf
        elif since == math.inf:
            since = have.time
            if first < math.inf:
                second = min(second, since)
            first = min(first, since)
        at = have.next
    first_rooms(w)[place], last_rooms(w)[place] = first, since
    first_ends(w)[place], second_rooms(w)[place] = end, second
    room_gaps(w)[place] = longest + ROUNDING
    rooms_known(w)[place] = w.set_changes
