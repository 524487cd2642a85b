"""EASY reservations: when and where the first blocked job can start by estimate."""

from __future__ import annotations

import math

from dovetail.domain.compiled import kernel
from dovetail.simulator.ready import earliest_nodes, expected_end, refresh
from dovetail.simulator.state import (
    NO_RESERVATION,
    World,
    demand,
    large,
    node,
    option,
    reservation_time,
    reserve,
    slot,
    small,
)


@kernel
def clear(w: World) -> None:
    """Forget every reservation."""
    for i in range(w.reserved_count):
        reserve(w, node(w, i).reserved_node).time = NO_RESERVATION
    w.reserved_count = 0
    w.reservation_count = 0


@kernel
def _search(w: World, number: int) -> float:
    """When an option has room by estimate, its nodes picked."""
    this = option(w, number)
    when = earliest_nodes(w, this.large_kinds, large(w, number), this.many, 0)
    if this.few > 0:
        later = earliest_nodes(w, this.small_kinds, small(w, number), this.few, this.many)
        when = max(when, later)
    return when


@kernel
def make_reservation(w: World, number: int) -> None:
    """Reserve the nodes on which a job of this demand can start the earliest."""
    refresh(w)
    first, last = demand(w, number).option_first, demand(w, number).option_last
    best, best_time = first, math.inf
    if last - first > 1:
        for at in range(first, last):
            when = _search(w, at)
            if when < best_time:
                best, best_time = at, when
    best_time = _search(w, best)
    reservation_time(w, w.reservation_count).time = best_time
    w.reservation_count += 1
    for i in range(option(w, best).many + option(w, best).few):
        picked = node(w, i).picked
        node(w, w.reserved_count).reserved_node = picked
        w.reserved_count += 1
        chunk = large(w, best) if i < option(w, best).many else small(w, best)
        _keep(w, picked, best_time, chunk.gpus, chunk.cpus, chunk.memory)


@kernel
def _keep(w: World, number: int, when: float, gpus: int, cpus: int, memory: int) -> None:
    """Note what a node will have to spare at that time beside the reserved chunk."""
    here, kept = node(w, number), reserve(w, number)
    kept.time = when
    kept.gpus, kept.cpus, kept.memory = here.gpus - gpus, here.cpus - cpus, here.memory - memory
    for at in range(here.running):
        if expected_end(w, number, at) <= when:
            own = slot(w, number, at)
            kept.gpus += own.gpus
            kept.cpus += own.cpus
            kept.memory += own.memory
