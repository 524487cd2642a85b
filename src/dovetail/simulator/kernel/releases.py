"""When the jobs of nodes are to end, and when nodes have room then: node by node.

For shapes that are asked for seldom; others have calendars, which follow what changes.
"""

from __future__ import annotations

import math
from typing import Any

from dovetail.compiled.functions import inner
from dovetail.simulator.kernel import part_calls
from dovetail.simulator.kernel.allocation import fits
from dovetail.simulator.kernel.earliest import keep_earliest
from dovetail.simulator.kernel.reservation_rows import ChunkShape
from dovetail.simulator.kernel.rows import World
from dovetail.simulator.kernel.state import (
    candidate,
    last_release,
    node,
    release,
    run_of,
    shape,
    slot,
    watcher,
)

SCANS, SCANNED = 32, 4
"""A calendar costs as much as going through all nodes so often; for more nodes than so many at once
it always pays."""

FEW_SHAPES = 16
"""Up to so many, each has a calendar that is hardly ever old."""


@inner
def expected_end(w: World, number: int, at: int) -> float:
    """Estimated end of the job in a slot."""
    return run_of(w, slot(w, number, at).job).expected


@inner
def are_noted(w: World) -> bool:
    """Whether nodes are ever gone through, so that what they have is to be noted."""
    return w.shape_count > FEW_SHAPES


@inner
def note(w: World, number: int) -> None:
    """A node whose slots have just been put in order."""
    if not are_noted(w):
        return
    here, mine, last = node(w, number), release(w, number), last_release(w, number)
    mine.gpus, mine.cpus, mine.memory = here.gpus, here.cpus, here.memory
    last.gpus, last.cpus, last.memory = here.gpus, here.cpus, here.memory
    if here.running == 0:
        return
    mine.first = expected_end(w, number, 0)
    mine.last = expected_end(w, number, here.running - 1)
    for at in range(here.running - 1):
        own = slot(w, number, at)
        last.gpus, last.cpus = last.gpus + own.gpus, last.cpus + own.cpus
        last.memory += own.memory


@inner
def ready_time(w: World, number: int, asked: Any) -> float:
    """When a node has room for what is asked, by estimate; -inf: now. Slots are in order."""
    here = node(w, number)
    if fits(here, asked):
        return -math.inf
    if here.closed:
        return float(part_calls.reopening(w, number, asked.gpus, asked.cpus, asked.memory))
    gpus, cpus, memory = here.gpus, here.cpus, here.memory
    at = 0
    while gpus < asked.gpus or cpus < asked.cpus or memory < asked.memory:
        own = slot(w, number, at)
        gpus, cpus, memory = gpus + own.gpus, cpus + own.cpus, memory + own.memory
        at += 1
    return expected_end(w, number, at - 1)


@inner
def is_scanned(w: World, at: int, wanted: int) -> bool:
    """Whether nodes are gone through for a shape: it has no calendar, or an old one.

    With 1,000 shapes nearly every job that heads the queue brings another one. Whoever stays there
    is asked for again and again.
    """
    this = shape(w, at)
    if not are_noted(w) or wanted > SCANNED or w.eventful:  # closed nodes have room when they open
        return False
    if this.watcher >= 0 and w.changed - watcher(w, this.watcher).seen <= w.node_count >> 2:
        return False
    if w.changed - this.asked > w.node_count:
        this.scans = 0
    this.asked = w.changed
    this.scans += 1
    return this.scans < SCANS


@inner
def _ready(w: World, number: int, asked: ChunkShape) -> float:
    """The same as ready_time; of most nodes it needs no look at their jobs."""
    here = release(w, number)
    if fits(here, asked):
        return -math.inf
    if not fits(last_release(w, number), asked):
        return here.last
    return ready_time(w, number, asked)


@inner
def nth_by_scan(w: World, at: int, wanted: int) -> float:
    """When so many more nodes have room for a shape than now."""
    this, count, latest = shape(w, at), 0, math.inf
    for number in range(w.node_count):
        here = release(w, number)
        if here.first >= latest or not this.kinds >> here.kind & 1:
            continue
        when = _ready(w, number, this)
        if when == -math.inf or when >= latest:
            continue
        count = keep_earliest(w, count, wanted, when)
        if count == wanted:
            latest = candidate(w, 0).time
    return latest


@inner
def count_by_scan(w: World, at: int, when: float) -> int:
    """Nodes that have no room for a shape now, but at that time."""
    this, found = shape(w, at), 0
    for number in range(w.node_count):
        here = release(w, number)
        if here.first <= when and this.kinds >> here.kind & 1:
            found += -math.inf < _ready(w, number, this) <= when
    return found
