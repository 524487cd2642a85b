"""EASY reservations: when the first blocked job can start by estimate, and what it must keep.

A reservation is a time and a number of nodes, not a list of nodes: a job that would end after that
time may take a node that the reserved job could use, as long as enough such nodes are left.
"""

from __future__ import annotations

import math

from dovetail.compiled.functions import inner
from dovetail.compiled.tables import Word
from dovetail.simulator.kernel.bits import trailing_zeros
from dovetail.simulator.kernel.calendar import count_ready, expected_end, nth_ready, refresh
from dovetail.simulator.kernel.rows import Chunk, Reservation, World
from dovetail.simulator.kernel.state import (
    NO_RESERVATION,
    bitmap,
    demand,
    kind,
    large,
    level,
    member,
    node,
    option,
    reservation,
    slot,
    small,
)

ENOUGH = 1 << 40
"""Nodes to spare for chunks that a reservation does not have."""


@inner
def clear(w: World) -> None:
    """Forget every reservation."""
    for number in range(w.kind_count):
        if kind(w, number).reserved < NO_RESERVATION:
            kind(w, number).reserved = NO_RESERVATION
    w.reservation_count = 0
    w.changes += 1


@inner
def _ready(w: World, number: int) -> float:
    """When an option has room by estimate."""
    this = option(w, number)
    when = nth_ready(w, this.large_kinds, large(w, number), this.many)
    if this.few > 0:
        every = this.many + this.few
        when = max(when, nth_ready(w, this.small_kinds, small(w, number), every))
    return when


@inner
def _earliest_option(w: World, number: int) -> tuple[int, float]:
    """The option in which a job of this demand can start the earliest, ties to the first."""
    refresh(w)
    best, best_time = -1, math.inf
    for at in range(demand(w, number).option_first, demand(w, number).option_last):
        when = _ready(w, at)
        if best < 0 or when < best_time:
            best, best_time = at, when
    return best, best_time


@inner
def count_delayed(w: World) -> None:
    """At the end of a checked pass: which reserved jobs could now only start later?"""
    for i in range(w.reservation_count):
        _, when = _earliest_option(w, reservation(w, i).demand)
        w.delayed += when > reservation(w, i).time


@inner
def make_reservation(w: World, number: int) -> None:
    """Reserve the earliest time at which a job of this demand can start."""
    best, when = _earliest_option(w, number)
    held, this = reservation(w, w.reservation_count), option(w, best)
    held.time, held.demand, held.option = when, number, best
    held.spare_large = count_ready(w, this.large_kinds, large(w, best), when) - this.many
    held.spare_small = ENOUGH
    if this.few > 0:
        ready = count_ready(w, this.small_kinds, small(w, best), when)
        held.spare_small = ready - this.many - this.few
    held.spent_large = held.spent_small = 0
    held.counted = False
    held.kinds = this.large_kinds | this.small_kinds
    held.gpus_only = large(w, best).cpus == 0 and large(w, best).memory == 0
    for at in range(w.kind_count):
        if held.kinds >> at & 1:
            kind(w, at).reserved = when
            kind(w, at).reservation = w.reservation_count
    w.reservation_count += 1
    w.changes += 1


@inner
def room_at(w: World, number: int, when: float) -> tuple[int, int, int]:
    """GPUs, CPUs and memory of a node at that time, if nothing new starts there."""
    here = node(w, number)
    gpus, cpus, memory = here.gpus, here.cpus, here.memory
    for at in range(here.running):
        if expected_end(w, number, at) <= when:
            own = slot(w, number, at)
            gpus, cpus, memory = gpus + own.gpus, cpus + own.cpus, memory + own.memory
    return gpus, cpus, memory


@inner
def _loses(room: tuple[int, int, int], needed: Chunk, taken: Chunk) -> bool:
    """Whether there is room for one chunk, but not beside another."""
    gpus, cpus, memory = room
    if gpus < needed.gpus or cpus < needed.cpus or memory < needed.memory:
        return False
    return (
        gpus - taken.gpus < needed.gpus
        or cpus - taken.cpus < needed.cpus
        or memory - taken.memory < needed.memory
    )


@inner
def costs(w: World, held: Reservation, number: int, chunk: Chunk) -> tuple[int, int]:
    """What a chunk on a node, if it stays too long, costs the reserved job: a node for a large
    chunk, a node for a small one."""
    this, at = option(w, held.option), node(w, number).kind
    room = room_at(w, number, held.time)
    loses_large = this.large_kinds >> at & 1 and _loses(room, large(w, held.option), chunk)
    loses_small = this.small_kinds >> at & 1 and _loses(room, small(w, held.option), chunk)
    return int(loses_large), int(loses_small)


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
    held = reservation(w, kind(w, node(w, number).kind).reservation)
    if held.time < end:
        loses_large, loses_small = costs(w, held, number, chunk)
        held.spare_large -= loses_large
        held.spare_small -= loses_small
    if held.counted:
        count_lost(w, held, number, -1)


@inner
def count_again(w: World, number: int) -> None:
    """Right after a chunk has started on such a node."""
    held = reservation(w, kind(w, node(w, number).kind).reservation)
    if held.counted:
        count_lost(w, held, number, 1)


@inner
def count_lost(w: World, held: Reservation, number: int, by: int) -> None:
    """Add a node to, or take it out of, the counts of what long chunks would cost.

    Without these counts every demand would look at every node: with gangs of 50 nodes in the
    queue that was most of a pass. They are right where nobody asks for CPUs and memory.
    """
    here = node(w, number)
    if here.gpus > 0:
        gpus, _, _ = room_at(w, number, held.time)
        _count_nodes(w, held, here.kind, here.gpus, gpus, by)


@inner
def _count_nodes(w: World, held: Reservation, at: int, free: int, later: int, by: int) -> None:
    """Count so many nodes of a kind that have `free` GPUs now and `later` at the reserved time."""
    this = option(w, held.option)
    most = large(w, held.option).gpus if this.large_kinds >> at & 1 else later + 1
    least = small(w, held.option).gpus if this.small_kinds >> at & 1 else later + 1
    for gpus in range(1, free + 1):
        loses_large = later >= most > later - gpus
        loses_small = later >= least > later - gpus
        if loses_large and loses_small:
            level(w, at, gpus).lost_both += by
        elif loses_large:
            level(w, at, gpus).lost_large += by
        elif loses_small:
            level(w, at, gpus).lost_small += by


@inner
def count_all(w: World, held: Reservation) -> None:
    """Fill in the counts for every node with free GPUs that a reservation may use."""
    held.counted = True
    for at in range(w.kind_count):
        if not held.kinds >> at & 1:
            continue
        whole = kind(w, at).gpus
        for gpus in range(whole + 1):
            found = level(w, at, gpus)
            found.lost_large = found.lost_small = found.lost_both = 0
        # Idle nodes are all alike; only partly used ones are looked at.
        _count_nodes(w, held, at, whole, whole, level(w, at, whole).count)
        for gpus in range(1, whole):
            if level(w, at, gpus).count > 0:
                _count_level(w, held, at, gpus)


@inner
def _count_level(w: World, held: Reservation, at: int, gpus: int) -> None:
    this, first = kind(w, at), level(w, at, gpus).word_first
    for i in range(this.words):
        bits = bitmap(w, first + i).bits
        while bits != Word(0):
            number = member(w, this.first + 64 * i + int(trailing_zeros(bits))).node
            count_lost(w, held, number, 1)
            bits &= bits - Word(1)


@inner
def lost_nodes(w: World, held: Reservation, kinds: int, gpus: int) -> int:
    """Nodes of some kinds with so many free GPUs that long chunks of that size cannot all have."""
    if not held.counted:
        count_all(w, held)
    held.lost_large = held.lost_small = held.lost_both = 0
    for at in range(w.kind_count):
        if kinds & held.kinds & 1 << at:
            held.lost_large += level(w, at, gpus).lost_large
            held.lost_small += level(w, at, gpus).lost_small
            held.lost_both += level(w, at, gpus).lost_both
    return held.lost_large + held.lost_small + held.lost_both - most_spared(held)


@inner
def most_spared(held: Reservation) -> int:
    """How many of the nodes tallied the reserved job can do without."""
    one = min(held.lost_large, held.spare_large)
    other = min(held.lost_small, held.spare_small)
    return one + other + min(held.lost_both, held.spare_large - one, held.spare_small - other)
