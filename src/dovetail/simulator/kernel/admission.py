"""Whether chunks, options and demands may start now beside reservations, promises and plans."""

from __future__ import annotations

from dovetail.compiled.functions import inner
from dovetail.simulator.kernel import promises
from dovetail.simulator.kernel import reservations as reserving
from dovetail.simulator.kernel.allocation import fits
from dovetail.simulator.kernel.calendar import free_nodes
from dovetail.simulator.kernel.node_space import is_unplanned
from dovetail.simulator.kernel.reservations import costs, lost_nodes, most_spared, spares
from dovetail.simulator.kernel.rows import Chunk, Reservation, World
from dovetail.simulator.kernel.state import (
    demand,
    kind,
    large,
    member,
    node,
    option,
    reservation,
    room,
    small,
)


@inner
def admissible(w: World, number: int, chunk: Chunk, end: float) -> bool:
    """Whether a chunk may start on a node now and stay there until `end`."""
    here = node(w, number)
    if not fits(here, chunk):
        return False
    if kind(w, here.kind).reserved < end and not spares(w, number, chunk):
        return False
    if here.hold >= 0 and not is_unplanned(w, number, w.now, end):
        return False
    return not w.promising or promises.leaves_room(w, number, chunk, end)


@inner
def enough_nodes(w: World, kinds: int, chunk: Chunk, end: float, wanted: int) -> bool:
    """Whether so many nodes of some kinds may take a chunk."""
    if w.promising:
        return promises.enough_room(w, kinds, chunk, end, wanted)
    if chunk.cpus > 0 or chunk.memory > 0 or w.hold_count > 0:
        return _enough_by_scan(w, kinds, chunk, end, wanted)
    # The index alone answers, without a scan; and once for all demands that ask for as much.
    here = room(w, chunk.gpus)
    if here.changes != w.changes or here.kinds != kinds:
        here.changes, here.kinds, here.beside = w.changes, kinds, -1
        here.free = free_nodes(w, kinds, chunk.gpus)
    if w.reservation_count > 1:
        return _enough_beside(w, kinds, chunk, end, wanted, here.free)
    if w.reservation_count == 0 or here.free < wanted:
        return here.free >= wanted
    held = reservation(w, 0)
    if held.time >= end or not held.kinds & kinds or _spares_any(held, wanted):
        return True
    if not held.gpus_only:
        return _enough_by_scan(w, kinds, chunk, end, wanted)
    if here.beside < 0:
        here.beside = here.free - lost_nodes(w, held, kinds, chunk.gpus)
    return here.beside >= wanted


@inner
def _enough_beside(w: World, kinds: int, chunk: Chunk, end: float, wanted: int, found: int) -> bool:
    """The same beside several reservations, of so many free nodes."""
    for i in range(w.reservation_count):
        held = reservation(w, i)
        if found < wanted:
            return False
        if held.time < end and held.kinds & kinds and not _spares_any(held, wanted):
            if not held.gpus_only:
                return _enough_by_scan(w, kinds, chunk, end, wanted)
            found -= lost_nodes(w, held, kinds, chunk.gpus)
    return found >= wanted


@inner
def _spares_any(held: Reservation, wanted: int) -> bool:
    """Whether the reserved job can do without any so many nodes."""
    return held.spare_large >= wanted and held.spare_small >= wanted


@inner
def _enough_by_scan(w: World, kinds: int, chunk: Chunk, end: float, wanted: int) -> bool:
    for i in range(w.reservation_count):
        held = reservation(w, i)
        held.lost_large = held.lost_small = held.lost_both = 0
    found = 0
    for number in range(w.kind_count):
        if not kinds >> number & 1:
            continue
        reserved = kind(w, number).reserved < end
        if reserved:
            reserved = not _spares_any(reservation(w, kind(w, number).reservation), wanted)
        for at in range(kind(w, number).first, kind(w, number).last):
            here = member(w, at).node
            if reserved:
                if fits(node(w, here), chunk):
                    found += _tally(w, here, chunk)
            else:
                found += admissible(w, here, chunk, end)
            if found >= wanted:
                return True
    for i in range(w.reservation_count):
        found += most_spared(reservation(w, i))
    return found >= wanted


@inner
def _tally(w: World, number: int, chunk: Chunk) -> int:
    """1 if a chunk on a node costs no reserved job anything; else what it costs is tallied."""
    held = reservation(w, kind(w, node(w, number).kind).reservation)
    loses_large, loses_small = costs(w, held, number, chunk)
    if loses_large and loses_small:
        held.lost_both += 1
    elif loses_large:
        held.lost_large += 1
    elif loses_small:
        held.lost_small += 1
    return not (loses_large or loses_small)


@inner
def option_fits(w: World, number: int, end: float) -> bool:
    """Whether a job that ends at `end` could start now in this option."""
    this = option(w, number)
    if not enough_nodes(w, this.large_kinds, large(w, number), end, this.many):
        return False
    return this.few == 0 or enough_nodes(
        w, this.small_kinds, small(w, number), end, this.many + this.few
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
        promises.spend(w, number)
    else:
        reserving.spend(w, number, chunk, end)


@inner
def forget_spent(w: World) -> None:
    """End choosing nodes for a job."""
    if w.promising:
        promises.forget_spent(w)
    else:
        reserving.forget_spent(w)
