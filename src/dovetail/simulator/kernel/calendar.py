"""When nodes will have room by estimate: a calendar of release times per kind and chunk size.

A reservation asks when n nodes have g GPUs free, and how many have by then. Walking through the
running jobs in every pass costs tens of microseconds. A calendar counts, in order of time, the
nodes that get g GPUs free then; a change of a node costs one search in it, and a question a
walk over as many entries as the gang has nodes, or running gangs before it, whichever is less.
Entries lie in blocks of 64, so that a new one moves half a block and not half of 4,096 nodes.
"""

from __future__ import annotations

import math

from dovetail.compiled.functions import inner
from dovetail.simulator.kernel.rows import Block, Chunk, Level, World
from dovetail.simulator.kernel.state import (
    block,
    candidate,
    entry,
    kind,
    level,
    member,
    node,
    release,
    run_of,
    slot,
)

BLOCK = 64
"""Entries that a block can hold; a full one is split."""


def most_blocks(nodes: int) -> int:
    """Blocks for a calendar of so many nodes: a quarter full, and two to work with."""
    return -(-4 * nodes // BLOCK) + 2


@inner
def expected_end(w: World, number: int, at: int) -> float:
    """Estimated end of the job in a slot."""
    return run_of(w, slot(w, number, at).job).expected


@inner
def refresh(w: World) -> None:
    """Bring release times and calendars up to date for every node that changed since."""
    for i in range(w.stale_count):
        number = node(w, i).stale_node
        node(w, number).stale = False
        _sort_slots(w, number)
        _update_releases(w, number)
    w.stale_count = 0


@inner
def _sort_slots(w: World, number: int) -> None:
    """By estimated end; insertion sort, as a node has few jobs and they are nearly sorted."""
    for i in range(1, node(w, number).running):
        at = i
        while at > 0 and expected_end(w, number, at - 1) > expected_end(w, number, at):
            one, other = slot(w, number, at - 1), slot(w, number, at)
            one.job, other.job = other.job, one.job
            one.gpus, other.gpus = other.gpus, one.gpus
            one.cpus, other.cpus = other.cpus, one.cpus
            one.memory, other.memory = other.memory, one.memory
            at -= 1


@inner
def _update_releases(w: World, number: int) -> None:
    """When so many GPUs of a node are free, from the estimated ends of its jobs in order."""
    here = node(w, number)
    have = here.gpus
    for gpus in range(1, have + 1):
        _set_release(w, number, gpus, -math.inf)
    for at in range(here.running):
        when = expected_end(w, number, at)
        freed = slot(w, number, at).gpus
        for gpus in range(have + 1, have + freed + 1):
            _set_release(w, number, gpus, when)
        have += freed


@inner
def _set_release(w: World, number: int, gpus: int, when: float) -> None:
    """Note when so many GPUs of a node are free, and move the node in its calendar."""
    known = release(w, number, gpus)
    if known.time == when:
        return
    this = level(w, node(w, number).kind, gpus)
    if this.calendar >= 0:
        if known.time > -math.inf:
            _remove(w, this, known.time)
        if when > -math.inf:
            _add(w, this, when)
    known.time = when


@inner
def _find_block(w: World, this: Level, time: float) -> int:
    """The last block that begins by then, or the first one; as a row of blocks."""
    low, high = 0, this.blocks
    while high - low > 1:
        middle = (low + high) >> 1
        if block(w, this.calendar + middle).first <= time:
            low = middle
        else:
            high = middle
    return this.calendar + low


@inner
def _find_entry(w: World, here: Block, time: float) -> int:
    """The first entry of a block that is not before that time; as a row of entries."""
    low, high = here.place, here.place + here.entries
    while low < high:
        middle = (low + high) >> 1
        if entry(w, middle).time < time:
            low = middle + 1
        else:
            high = middle
    return low


@inner
def _add(w: World, this: Level, time: float) -> None:
    """One more node is released at that time."""
    if this.blocks == 0:
        this.blocks = 1
        block(w, this.calendar).entries = 0
    number = _find_block(w, this, time)
    here = block(w, number)
    at = _find_entry(w, here, time)
    last = here.place + here.entries
    if at < last and entry(w, at).time == time:
        entry(w, at).nodes += 1
        return
    _move_entries(w, at, last, 1)
    entry(w, at).time, entry(w, at).nodes = time, 1
    here.entries += 1
    here.first = entry(w, here.place).time
    if here.entries == BLOCK:
        if this.blocks == this.block_limit:
            _compact(w, this)
        else:
            _split(w, this, number)


@inner
def _remove(w: World, this: Level, time: float) -> None:
    """One node less is released at that time."""
    number = _find_block(w, this, time)
    here = block(w, number)
    at = _find_entry(w, here, time)
    entry(w, at).nodes -= 1
    if entry(w, at).nodes > 0:
        return
    _move_entries(w, at + 1, here.place + here.entries, -1)
    here.entries -= 1
    if here.entries > 0:
        here.first = entry(w, here.place).time
        return
    empty = here.place
    this.blocks -= 1
    for i in range(number, this.calendar + this.blocks):
        _copy_block(w, i + 1, i)
    block(w, this.calendar + this.blocks).place = empty


@inner
def _move_entries(w: World, first: int, last: int, by: int) -> None:
    """Shift entries by one place, up or down."""
    if by > 0:
        for i in range(last, first, -1):
            entry(w, i).time, entry(w, i).nodes = entry(w, i - 1).time, entry(w, i - 1).nodes
    else:
        for i in range(first, last):
            entry(w, i - 1).time, entry(w, i - 1).nodes = entry(w, i).time, entry(w, i).nodes


@inner
def _copy_block(w: World, one: int, other: int) -> None:
    source, target = block(w, one), block(w, other)
    target.first, target.entries, target.place = source.first, source.entries, source.place


@inner
def _split(w: World, this: Level, number: int) -> None:
    """Move the later half of a full block into one of its own, right behind it."""
    fresh = block(w, this.calendar + this.blocks).place
    for i in range(this.calendar + this.blocks, number + 1, -1):
        _copy_block(w, i - 1, i)
    this.blocks += 1
    here, new = block(w, number), block(w, number + 1)
    half = here.entries >> 1
    new.place, new.entries = fresh, here.entries - half
    here.entries = half
    for i in range(new.entries):
        source, target = entry(w, here.place + half + i), entry(w, fresh + i)
        target.time, target.nodes = source.time, source.nodes
    new.first = entry(w, fresh).time


@inner
def _compact(w: World, this: Level) -> None:
    """Pour all entries into half-filled blocks: many of the blocks hold next to nothing by now.

    With as many blocks as most_blocks gives, no more than half of them can be half full.
    """
    target, at = 0, 0
    for i in range(this.blocks):  # first to the front, tightly, then spread from the back
        here = block(w, this.calendar + i)
        for k in range(here.entries):
            if at == BLOCK:
                block(w, this.calendar + target).entries = BLOCK
                target, at = target + 1, 0
            source = entry(w, here.place + k)
            time, nodes = source.time, source.nodes
            to = entry(w, block(w, this.calendar + target).place + at)
            to.time, to.nodes = time, nodes
            at += 1
    block(w, this.calendar + target).entries = at
    this.blocks = target + 1
    for i in range(this.blocks):
        here = block(w, this.calendar + i)
        here.first = entry(w, here.place).time
    for i in range(target, -1, -1):
        if block(w, this.calendar + i).entries > BLOCK >> 1:
            _split(w, this, this.calendar + i)


@inner
def free_nodes(w: World, kinds: int, gpus: int) -> int:
    """Nodes of some kinds with so many GPUs free now."""
    found = 0
    for number in range(w.kind_count):
        if kinds >> number & 1:
            for free in range(gpus, kind(w, number).gpus + 1):
                found += level(w, number, free).count
    return found


@inner
def nth_ready(w: World, kinds: int, chunk: Chunk, wanted: int) -> float:
    """When so many nodes of some kinds have room for a chunk, by estimate; -inf: now."""
    if chunk.cpus > 0 or chunk.memory > 0:
        return _nth_ready_exactly(w, kinds, chunk, wanted)
    have = free_nodes(w, kinds, chunk.gpus)
    when = -math.inf
    for number in range(w.kind_count):
        kind(w, number).cursor_block = kind(w, number).cursor_entry = 0
    while have < wanted:
        soonest, of = math.inf, -1
        for number in range(w.kind_count):
            if kinds >> number & 1:
                this, at = level(w, number, chunk.gpus), kind(w, number)
                if at.cursor_block < this.blocks:
                    here = block(w, this.calendar + at.cursor_block)
                    if of < 0 or entry(w, here.place + at.cursor_entry).time < soonest:
                        soonest, of = entry(w, here.place + at.cursor_entry).time, number
        at = kind(w, of)
        here = block(w, level(w, of, chunk.gpus).calendar + at.cursor_block)
        have += entry(w, here.place + at.cursor_entry).nodes
        at.cursor_entry += 1
        if at.cursor_entry == here.entries:
            at.cursor_block, at.cursor_entry = at.cursor_block + 1, 0
        when = soonest
    return when


@inner
def count_ready(w: World, kinds: int, chunk: Chunk, when: float) -> int:
    """Nodes of some kinds that have room for a chunk at that time, by estimate."""
    if chunk.cpus > 0 or chunk.memory > 0:
        return _count_ready_exactly(w, kinds, chunk, when)
    found = free_nodes(w, kinds, chunk.gpus)
    for number in range(w.kind_count):
        if kinds >> number & 1:
            this = level(w, number, chunk.gpus)
            for i in range(this.blocks):
                here = block(w, this.calendar + i)
                if here.first > when:
                    break
                for at in range(here.place, here.place + here.entries):
                    if entry(w, at).time > when:
                        break
                    found += entry(w, at).nodes
    return found


@inner
def ready_time(w: World, number: int, chunk: Chunk) -> float:
    """When a chunk fits on a node by estimate, CPUs and memory included; -inf: now."""
    when = release(w, number, chunk.gpus).time
    here = node(w, number)
    cpus, memory = here.cpus, here.memory
    at = 0
    while at < here.running and (
        cpus < chunk.cpus or memory < chunk.memory or expected_end(w, number, at) <= when
    ):
        cpus += slot(w, number, at).cpus  # slots are in order of estimated end
        memory += slot(w, number, at).memory
        when = max(when, expected_end(w, number, at))
        at += 1
    return when


@inner
def _nth_ready_exactly(w: World, kinds: int, chunk: Chunk, wanted: int) -> float:
    """The n-th earliest of the times at which nodes have room; the n earliest are kept in order.

    When the GPUs alone are free is looked at first: mostly that rules a node out.
    """
    count = 0
    for number in range(w.kind_count):
        if not kinds >> number & 1:
            continue
        for i in range(kind(w, number).first, kind(w, number).last):
            here = member(w, i).node
            latest = candidate(w, wanted - 1).time if count == wanted else math.inf
            if release(w, here, chunk.gpus).time >= latest:
                continue
            when = ready_time(w, here, chunk)
            if when >= latest:
                continue
            count = min(count + 1, wanted)
            at = count - 1
            while at > 0 and candidate(w, at - 1).time > when:
                candidate(w, at).time = candidate(w, at - 1).time
                at -= 1
            candidate(w, at).time = when
    return candidate(w, wanted - 1).time


@inner
def _count_ready_exactly(w: World, kinds: int, chunk: Chunk, when: float) -> int:
    found = 0
    for number in range(w.kind_count):
        if kinds >> number & 1:
            for i in range(kind(w, number).first, kind(w, number).last):
                here = member(w, i).node
                if release(w, here, chunk.gpus).time <= when:
                    found += ready_time(w, here, chunk) <= when
    return found
