"""Whether chunks, options and demands may start now beside reservations, promises and plans."""

from __future__ import annotations

from dovetail.compiled.functions import inner
from dovetail.simulator.kernel import part_calls, spent_promises
from dovetail.simulator.kernel import reservations as reserving
from dovetail.simulator.kernel.allocation import fits, free_nodes
from dovetail.simulator.kernel.demand_rows import Chunk
from dovetail.simulator.kernel.node_space import is_unplanned
from dovetail.simulator.kernel.reservation_rows import Reservation
from dovetail.simulator.kernel.reservations import spares
from dovetail.simulator.kernel.rows import World
from dovetail.simulator.kernel.state import (
    demand,
    hold,
    kind,
    large,
    member,
    node,
    option,
    reservation,
    shape,
    small,
)
from dovetail.simulator.kernel.tallies import lost_nodes


@inner
def admissible(w: World, number: int, chunk: Chunk, end: float) -> bool:
    """Whether a chunk may start on a node now and stay there until `end`."""
    here = node(w, number)
    if not fits(here, chunk) or w.closed_kinds >> here.kind & 1:
        return False
    if kind(w, here.kind).reserved < end and not spares(w, number, chunk):
        return False
    if here.hold >= 0 and not is_unplanned(w, number, w.now, end):
        return False
    return not w.promising or part_calls.leaves_room(w, number, chunk, end) != 0


@inner
def count_nodes(w: World, at: int, end: float, wanted: int) -> int:
    """How many nodes may take a chunk of a shape, as far as it takes to see whether these are
    enough; no node need be looked at."""
    this = shape(w, at)
    found = free_nodes(w, at)
    for i in range(w.reservation_count):
        if found < wanted:
            return found
        held = reservation(w, i)
        if held.time < end and held.kinds & this.kinds and not _spares_any(held, wanted):
            found -= lost_nodes(w, i, at)
    return found


@inner
def _spares_any(held: Reservation, wanted: int) -> bool:
    """Whether the reserved job can do without any so many nodes."""
    return held.spare_large >= wanted and held.spare_small >= wanted


@inner
def _kept_nodes(w: World, kinds: int, chunk: Chunk, end: float) -> int:
    """Nodes with room for a chunk now that somebody is to have before `end`."""
    found = 0
    for i in range(w.hold_count):
        number = hold(w, i).node
        here = node(w, number)
        if here.hold == i and kinds >> here.kind & 1 and fits(here, chunk):
            found += not is_unplanned(w, number, w.now, end)
    return found


@inner
def _enough_by_scan(w: World, kinds: int, chunk: Chunk, end: float, wanted: int) -> bool:
    """The same beside plans, or where nodes are closed."""
    found = 0
    for number in range(w.kind_count):
        if kinds >> number & 1:
            for at in range(kind(w, number).first, kind(w, number).last):
                found += admissible(w, member(w, at).node, chunk, end)
                if found >= wanted:
                    return True
    return False


@inner
def _has_room(w: World, at: int, kinds: int, chunk: Chunk, end: float, wanted: int) -> bool:
    """Whether so many nodes may take a chunk, whatever else is promised or planned."""
    if w.promising:
        return part_calls.enough_room(w, kinds, chunk, end, wanted) != 0
    found = count_nodes(w, at, end, wanted)
    if found < wanted:
        return False
    if w.closed_kinds & kinds == 0:
        if end <= w.first_hold:
            return True
        # Few nodes are kept: looking at all others, too, was most of a replay with upkeep ahead.
        kept = _kept_nodes(w, kinds, chunk, end)
        if found - kept >= wanted:
            return True
        if free_nodes(w, at) - kept < wanted:
            return False
    return _enough_by_scan(w, kinds, chunk, end, wanted)


@inner
def option_fits(w: World, number: int, end: float) -> bool:
    """Whether a job that ends at `end` could start now in this option."""
    this = option(w, number)
    if not _has_room(w, this.large_shape, this.large_kinds, large(w, number), end, this.many):
        return False
    every = this.many + this.few
    return this.few == 0 or _has_room(
        w, this.small_shape, this.small_kinds, small(w, number), end, every
    )


@inner
def demand_fits(w: World, number: int, end: float) -> bool:
    """Whether any option of a demand has room now for a job that ends at `end`."""
    if demand(w, number).gpus > w.free_gpus:  # on a full cluster that is most of them
        return False
    for this in range(demand(w, number).option_first, demand(w, number).option_last):
        if option_fits(w, this, end):
            return True
    return False


@inner
def spend(w: World, number: int, chunk: Chunk, end: float) -> None:
    """Note that a chunk of the job in hand is to go on a node until `end`."""
    if w.promising:
        spent_promises.spend(w, number)
    else:
        reserving.spend(w, number, chunk, end)


@inner
def forget_spent(w: World) -> None:
    """End choosing nodes for a job."""
    if w.promising:
        spent_promises.forget_spent(w)
    else:
        reserving.forget_spent(w)
