"""EASY reservations: when and where the first blocked job can start by estimate."""

from __future__ import annotations

import math

from dovetail.domain.compiled import inner
from dovetail.simulator.ready import earliest_nodes, expected_end, refresh
from dovetail.simulator.rows import World
from dovetail.simulator.state import (
    NO_RESERVATION,
    demand,
    kind,
    large,
    level,
    node,
    option,
    reservation,
    reserve,
    slot,
    small,
)


@inner
def clear(w: World) -> None:
    """Forget every reservation."""
    for i in range(w.reserved_count):
        number = node(w, i).reserved_node
        count_lost(w, number, -1)
        reserve(w, number).time = NO_RESERVATION
    for number in range(w.kind_count):
        kind(w, number).reserved = NO_RESERVATION
    w.reserved_count = 0
    w.reservation_count = 0


@inner
def count_lost(w: World, number: int, by: int) -> None:
    """Add a reserved node to, or take it out of, the counts of GPUs lost to later jobs.

    Without these counts every demand would look at every reserved node: with gangs of 50 nodes
    in the queue that was most of a pass.
    """
    here = node(w, number)
    for gpus in range(max(reserve(w, number).gpus, 0) + 1, here.gpus + 1):
        level(w, here.kind, gpus).lost += by


@inner
def _search(w: World, number: int) -> float:
    """When an option has room by estimate, its nodes picked."""
    this = option(w, number)
    when = earliest_nodes(w, this.large_kinds, large(w, number), this.many, 0)
    if this.few > 0:
        later = earliest_nodes(w, this.small_kinds, small(w, number), this.few, this.many)
        when = max(when, later)
    return when


@inner
def _earliest_option(w: World, number: int) -> int:
    """The option in which a job of this demand can start the earliest, ties to the first."""
    refresh(w)
    first, last = demand(w, number).option_first, demand(w, number).option_last
    best, best_time = first, math.inf
    if last - first > 1:
        for at in range(first, last):
            when = _search(w, at)
            if when < best_time:
                best, best_time = at, when
    return best


@inner
def count_delayed(w: World) -> None:
    """At the end of a checked pass: which reserved jobs could now only start later?"""
    for i in range(w.reservation_count):
        best = _earliest_option(w, reservation(w, i).demand)
        w.delayed += _search(w, best) > reservation(w, i).time


@inner
def make_reservation(w: World, number: int) -> None:
    """Reserve the nodes on which a job of this demand can start the earliest."""
    best = _earliest_option(w, number)
    best_time = _search(w, best)
    reservation(w, w.reservation_count).time = best_time
    reservation(w, w.reservation_count).demand = number
    w.reservation_count += 1
    for at in range(w.kind_count):
        if demand(w, number).kinds >> at & 1:
            kind(w, at).reserved = best_time
    for i in range(option(w, best).many + option(w, best).few):
        picked = node(w, i).picked
        node(w, w.reserved_count).reserved_node = picked
        w.reserved_count += 1
        chunk = large(w, best) if i < option(w, best).many else small(w, best)
        _keep(w, picked, best_time, chunk.gpus, chunk.cpus, chunk.memory)


@inner
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
    count_lost(w, number, 1)
