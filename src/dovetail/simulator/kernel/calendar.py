"""When nodes will have room by estimate: a calendar of ready times for each shape asked for.

A reservation asks when n nodes have room for a chunk, and how many have by then. Walking through
the running jobs in every pass costs tens of microseconds. A calendar counts, in order of time, the
nodes that get room then; a change of a node costs one search in it, and a question a walk over as
many entries as the gang has nodes, or running gangs before it, whichever is less. Entries lie in
blocks of 64, so that a new one moves half a block and not half of 4,096 nodes.

Of hundreds of shapes few are ever blocked first. A calendar is begun when a shape is asked for,
and takes in what has changed since when it is asked again; the one not asked for longest makes
room for another.
"""

from __future__ import annotations

import math

from dovetail.compiled.functions import inner
from dovetail.simulator.kernel import releases
from dovetail.simulator.kernel.allocation import free_nodes
from dovetail.simulator.kernel.releases import expected_end, ready_time
from dovetail.simulator.kernel.reservation_rows import Block, Watcher
from dovetail.simulator.kernel.rows import World
from dovetail.simulator.kernel.state import (
    block,
    change,
    entry,
    node,
    ready,
    shape,
    slot,
    watcher,
)

BLOCK = 64
"""Entries that a block can hold; a full one is split."""


def most_blocks(nodes: int) -> int:
    """Blocks for a calendar of so many nodes: a quarter full, and two to work with."""
    return -(-4 * nodes // BLOCK) + 2


@inner
def refresh(w: World) -> None:
    """Put the slots of every node that changed since in order."""
    for i in range(w.stale_count):
        number = node(w, i).stale_node
        node(w, number).stale = False
        _sort_slots(w, number)
        releases.note(w, number)
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
def follow(w: World, at: int) -> int:
    """The watcher of a shape, its calendar up to date; slots have been put in order."""
    this = shape(w, at)
    if this.watcher < 0:
        this.watcher = _longest_unused(w)
        mine = watcher(w, this.watcher)
        if mine.shape >= 0:
            shape(w, mine.shape).watcher = -1
        mine.shape, mine.seen = at, w.changed - w.node_count - 1
    mine = watcher(w, this.watcher)
    w.watches += 1
    mine.used = w.watches
    if w.changed - mine.seen > w.node_count:
        _begin(w, this.watcher)
    else:
        for i in range(mine.seen, w.changed):
            _update(w, this.watcher, change(w, i % w.node_count).node)
    mine.seen = w.changed
    return this.watcher


@inner
def _longest_unused(w: World) -> int:
    best = 0
    for i in range(1, w.watcher_count):
        if watcher(w, i).used < watcher(w, best).used:
            best = i
    return best


@inner
def _begin(w: World, at: int) -> None:
    """Make a calendar anew."""
    mine = watcher(w, at)
    mine.blocks = 0
    for number in range(w.node_count):
        ready(w, at, number).time = -math.inf
        _update(w, at, number)


@inner
def _update(w: World, at: int, number: int) -> None:
    """Work out when a node has room, and move it in the calendar."""
    mine, known = watcher(w, at), ready(w, at, number)
    this = shape(w, mine.shape)
    if not this.kinds >> node(w, number).kind & 1:
        return
    when = ready_time(w, number, this)
    if known.time == when:
        return
    if known.time > -math.inf:
        _remove(w, mine, known.time)
    if when > -math.inf:
        _add(w, mine, when)
    known.time = when


@inner
def _find_block(w: World, this: Watcher, time: float) -> int:
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
def _add(w: World, this: Watcher, time: float) -> None:
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
def _remove(w: World, this: Watcher, time: float) -> None:
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
def _split(w: World, this: Watcher, number: int) -> None:
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
def _compact(w: World, this: Watcher) -> None:
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
def nth_ready(w: World, at: int, wanted: int) -> float:
    """When so many nodes have room for a shape, by estimate; -inf: now."""
    have = free_nodes(w, at)
    if have >= wanted:
        return -math.inf
    if releases.is_scanned(w, at, wanted - have):
        return releases.nth_by_scan(w, at, wanted - have)
    mine = watcher(w, follow(w, at))
    for i in range(mine.blocks):
        here = block(w, mine.calendar + i)
        for place in range(here.place, here.place + here.entries):
            have += entry(w, place).nodes
            if have >= wanted:
                return entry(w, place).time
    return math.inf  # never: a demand has been found to fit an idle cluster


@inner
def _is_up_to_date(w: World, at: int) -> bool:
    number = shape(w, at).watcher
    return number >= 0 and watcher(w, number).seen >= w.changed


@inner
def count_ready(w: World, at: int, when: float) -> int:
    """Nodes that have room for a shape at that time, by estimate."""
    found = free_nodes(w, at)
    if releases.are_noted(w) and not _is_up_to_date(w, at):
        return found + releases.count_by_scan(w, at, when)
    mine = watcher(w, follow(w, at))
    for i in range(mine.blocks):
        here = block(w, mine.calendar + i)
        if here.first > when:
            break
        for place in range(here.place, here.place + here.entries):
            if entry(w, place).time > when:
                break
            found += entry(w, place).nodes
    return found
