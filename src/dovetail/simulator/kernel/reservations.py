"""EASY reservations: when the first blocked job can start by estimate, and what it must keep.

A reservation is a time and a number of nodes, not a list of nodes: a job that would end after that
time may take a node that the reserved job could use, as long as enough such nodes are left.
"""

from __future__ import annotations

import math

from dovetail.compiled.functions import inner
from dovetail.simulator.kernel import part_calls
from dovetail.simulator.kernel.calendar import count_ready, nth_ready, refresh
from dovetail.simulator.kernel.demand_rows import Chunk
from dovetail.simulator.kernel.reservation_rows import Reservation
from dovetail.simulator.kernel.rows import World
from dovetail.simulator.kernel.state import (
    NO_RESERVATION,
    demand,
    job_facts,
    kind,
    node,
    option,
    reservation,
)
from dovetail.simulator.kernel.tallies import costs, count_node

ENOUGH = 1 << 40
"""Nodes to spare for chunks that a reservation does not have."""


@inner
def clear(w: World) -> None:
    """Forget every reservation."""
    for number in range(w.kind_count):
        if kind(w, number).reserved < NO_RESERVATION:
            kind(w, number).reserved = NO_RESERVATION
    w.reservation_count = 0


@inner
def _ready(w: World, number: int) -> float:
    """When an option has room by estimate."""
    this = option(w, number)
    when = nth_ready(w, this.large_shape, this.many)
    if this.few > 0:
        when = max(when, nth_ready(w, this.small_shape, this.many + this.few))
    return when


@inner
def _earliest_option(w: World, number: int, estimate: float) -> tuple[int, float]:
    """The option in which a job of this demand can start the earliest, ties to the first."""
    refresh(w)
    best, best_time = -1, math.inf
    for at in range(demand(w, number).option_first, demand(w, number).option_last):
        when, length = _ready(w, at), estimate / option(w, at).speed
        if when < math.inf and max(when, w.now) + length > w.first_hold:
            # It may run into a node that is closed then.
            when = part_calls.reserved_begin(w, at, max(when, w.now), length)
        if best < 0 or when < best_time:
            best, best_time = at, when
    return best, best_time


@inner
def count_delayed(w: World) -> None:
    """At the end of a checked pass: which reserved jobs could now only start later?"""
    for i in range(w.reservation_count):
        _, when = _earliest_option(w, reservation(w, i).demand, reservation(w, i).estimate)
        w.delayed += when > reservation(w, i).time


@inner
def make_reservation(w: World, number: int, job: int) -> bool:
    """Reserve the earliest time at which a job of this demand can start; False: nobody knows it,
    as too many nodes are down."""
    estimate = job_facts(w, job).reserve
    best, when = _earliest_option(w, number, estimate)
    if when == math.inf:
        return False
    held, this = reservation(w, w.reservation_count), option(w, best)
    held.time, held.demand, held.option = when, number, best
    held.estimate, held.end = estimate, max(when, w.now) + estimate / this.speed
    w.reservations_made += 1
    held.serial, held.tally, held.barren = w.reservations_made, -1, -1
    held.spare_large = _count_ready(w, this.large_shape, held) - this.many
    held.spare_small = ENOUGH
    if this.few > 0:
        held.spare_small = _count_ready(w, this.small_shape, held) - this.many - this.few
    held.spent_large = held.spent_small = 0
    held.kinds = this.large_kinds | this.small_kinds
    for at in range(w.kind_count):
        if held.kinds >> at & 1:
            kind(w, at).reserved = when
            kind(w, at).reservation = w.reservation_count
    w.reservation_count += 1
    return True


@inner
def _count_ready(w: World, at: int, held: Reservation) -> int:
    """Nodes that have room for a shape at the reserved time, and as long as it takes."""
    if held.end > w.first_hold:
        return int(part_calls.count_unplanned(w, at, held.time, held.end))
    return count_ready(w, at, held.time)


@inner
def spares(w: World, number: int, chunk: Chunk) -> bool:
    """Whether the job that a node is reserved for can do without what the chunk takes."""
    held = reservation(w, kind(w, node(w, number).kind).reservation)
    if held.spare_large > held.spent_large and held.spare_small > held.spent_small:
        return True
    loses_large, loses_small = costs(w, held, number, chunk)
    return (
        held.spare_large >= held.spent_large + loses_large
        and held.spare_small >= held.spent_small + loses_small
    )


@inner
def forget_spent(w: World) -> None:
    """Begin to choose nodes for a job."""
    for i in range(w.reservation_count):
        reservation(w, i).spent_large = reservation(w, i).spent_small = 0


@inner
def spend(w: World, number: int, chunk: Chunk, end: float) -> None:
    """Note that a chunk of the job in hand is to go on a node until `end`."""
    this = kind(w, node(w, number).kind)
    if this.reserved < end:
        held = reservation(w, this.reservation)
        loses_large, loses_small = costs(w, held, number, chunk)
        held.spent_large += loses_large
        held.spent_small += loses_small


@inner
def pay(w: World, number: int, chunk: Chunk, end: float) -> None:
    """Right before a chunk starts on a node that a reservation may use, until `end`."""
    at = kind(w, node(w, number).kind).reservation
    held = reservation(w, at)
    if held.time < end:
        loses_large, loses_small = costs(w, held, number, chunk)
        held.spare_large -= loses_large
        held.spare_small -= loses_small
    count_node(w, at, number, -1)


@inner
def count_again(w: World, number: int) -> None:
    """Right after a chunk has started on such a node."""
    count_node(w, kind(w, node(w, number).kind).reservation, number, 1)
