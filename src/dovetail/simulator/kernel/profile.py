"""What running and promised jobs leave of node sets over time: a list of steps for each set."""

from __future__ import annotations

import math

from dovetail.compiled.functions import inner
from dovetail.simulator.kernel import rooms
from dovetail.simulator.kernel.allocation import fits
from dovetail.simulator.kernel.demand_rows import Chunk
from dovetail.simulator.kernel.promise_rows import NodeSet, Step
from dovetail.simulator.kernel.rows import World
from dovetail.simulator.kernel.state import node_set, step


@inner
def clear(w: World) -> None:
    """Make every node set idle for ever."""
    w.steps_used, w.free_step = 0, -1
    for number in range(w.set_count):
        this = node_set(w, number)
        this.first = _new_step(w, w.now, -1)
        idle = step(w, this.first)
        idle.gpus, idle.cpus, idle.memory = this.gpus, this.cpus, this.memory
        rooms.forget(w, number)


@inner
def _new_step(w: World, time: float, following: int) -> int:
    number = w.free_step
    if number >= 0:
        w.free_step = step(w, number).next
    else:
        number = w.steps_used
        w.steps_used += 1
    step(w, number).time, step(w, number).next = time, following
    return number


@inner
def _free(w: World, number: int) -> None:
    step(w, number).next = w.free_step
    w.free_step = number


@inner
def _until(w: World, number: int) -> float:
    """When a step ends."""
    following = step(w, number).next
    return step(w, following).time if following >= 0 else math.inf


@inner
def current(w: World, number: int) -> int:
    """The step of this moment; those of the past are dropped."""
    this = node_set(w, number)
    while _until(w, this.first) <= w.now:
        past = this.first
        this.first = step(w, past).next
        _free(w, past)
    return this.first


@inner
def _split(w: World, number: int, time: float) -> int:
    """Begin a step at a time within another; returns its number."""
    one = step(w, number)
    one.next = _new_step(w, time, one.next)
    other = step(w, one.next)
    other.gpus, other.cpus, other.memory = one.gpus, one.cpus, one.memory
    return one.next


@inner
def _join(w: World, number: int) -> None:
    """Drop the step after one if nothing changes there."""
    one = step(w, number)
    following = one.next
    if following < 0:
        return
    other = step(w, following)
    if one.gpus == other.gpus and one.cpus == other.cpus and one.memory == other.memory:
        one.next = other.next
        _free(w, following)


@inner
def give(
    w: World, number: int, begin: float, end: float, gpus: int, cpus: int, memory: int
) -> None:
    """Add to what a node set has left over [begin, end); below 0: take."""
    before, at = -1, current(w, number)
    while _until(w, at) <= begin:
        before, at = at, step(w, at).next
    if begin > w.now and step(w, at).time < begin:
        before, at = at, _split(w, at, begin)
    while True:
        until = _until(w, at)
        if until > end:
            _split(w, at, end)
        this = step(w, at)
        this.gpus, this.cpus, this.memory = this.gpus + gpus, this.cpus + cpus, this.memory + memory
        if until >= end:
            break
        at = this.next
    _join(w, at)
    if before >= 0:
        _join(w, before)
    rooms.forget(w, number)


@inner
def most_gpus(w: World, number: int, begin: float, end: float) -> int:
    """The most GPUs that a node set has left at any moment of [begin, end)."""
    at, most = current(w, number), 0
    while at >= 0 and step(w, at).time < end:
        if _until(w, at) > begin:
            most = max(most, step(w, at).gpus)
        at = step(w, at).next
    return most


@inner
def _room(this: NodeSet, have: Step, chunk: Chunk) -> int:
    """How many chunks of one job a node set has room for in a step."""
    if this.chunks == 1:
        return int(fits(have, chunk))
    return have.gpus // chunk.gpus


@inner
def next_begin(
    w: World, number: int, chunk: Chunk, after: float, length: float, wanted: int, limit: float
) -> float:
    """The earliest time from `after` on with room for so many chunks for `length` seconds.

    inf: it is not before `limit`.
    """
    if rooms.begins_by(w, number, chunk.gpus, length) >= limit:
        return math.inf
    this = node_set(w, number)
    at, since = current(w, number), math.inf
    while at >= 0:
        have, until = step(w, at), _until(w, at)
        if since == math.inf and have.time >= limit:
            return math.inf
        if until > after:
            if _room(this, have, chunk) < wanted:
                since = math.inf
            else:
                if since == math.inf:
                    since = max(have.time, after)
                if since >= limit:
                    return math.inf
                if until >= since + length:
                    return since
        at = have.next
    return math.inf


@inner
def begins_earlier(w: World, number: int, chunk: Chunk, length: float, time: float) -> bool:
    """Whether a job that is to have a chunk of a single node from a time on could have it earlier.

    What it is to have is not in its way: where there is room up to that time, it lasts.
    """
    at, since = current(w, number), math.inf
    while at >= 0 and step(w, at).time < time:
        have, until = step(w, at), _until(w, at)
        if not fits(have, chunk):
            since = math.inf
        else:
            if since == math.inf:
                since = max(have.time, w.now)
            if since < time and (until >= time or until >= since + length):
                return True
        at = have.next
    return False


@inner
def look(w: World, number: int, chunk: Chunk, begin: float, end: float) -> tuple[int, float, int]:
    """How many chunks fit all through [begin, end), since when one does without a break, and the
    GPUs left at `begin`."""
    this = node_set(w, number)
    at, since, chunks, gpus = current(w, number), math.inf, this.chunks, 0
    while at >= 0 and step(w, at).time < end:
        have = step(w, at)
        room = _room(this, have, chunk)
        if room == 0:
            since = math.inf
        elif since == math.inf:
            since = max(have.time, w.now)
        if _until(w, at) > begin:
            if room == 0:
                return 0, since, gpus
            chunks = min(chunks, room)
            if have.time <= begin or have.time <= w.now:
                gpus = have.gpus
        at = have.next
    return chunks, since, gpus
