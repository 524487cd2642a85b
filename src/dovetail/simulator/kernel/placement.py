"""Finding nodes for a job: which nodes are admissible, which of them are preferred."""

from __future__ import annotations

import math
from typing import Any

from dovetail.compiled.functions import inner
from dovetail.compiled.tables import Word
from dovetail.simulator.kernel import promises
from dovetail.simulator.kernel import reservations as reserving
from dovetail.simulator.kernel.allocation import fits
from dovetail.simulator.kernel.bits import trailing_zeros
from dovetail.simulator.kernel.calendar import free_nodes
from dovetail.simulator.kernel.node_space import is_unplanned
from dovetail.simulator.kernel.reservations import (
    costs,
    lost_nodes,
    most_spared,
    spares,
)
from dovetail.simulator.kernel.rows import Chunk, Reservation, World
from dovetail.simulator.kernel.state import (
    bitmap,
    demand,
    job_facts,
    kind,
    large,
    level,
    member,
    node,
    option,
    placement_parameters,
    reservation,
    room,
    run_of,
    seen,
    slot,
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
    for this in range(demand(w, number).option_first, demand(w, number).option_last):
        if option_fits(w, this, end):
            return True
    return False


@inner
def place(w: World, prefer: Any, few_switches: bool, job: int) -> int:
    """Find nodes for a job; returns the option used, its nodes picked, or -1."""
    estimate = job_facts(w, job).reserve
    mine = demand(w, run_of(w, job).demand)
    number = mine.option_first
    while number < mine.option_last:
        this = option(w, number)
        if this.many + this.few > 1:
            end = w.now + estimate / this.speed
            if option_fits(w, number, end):
                picked = _pick_gang(w, prefer, few_switches, job, number, end)
                forget_spent(w)
                if picked:
                    return number
            number += 1
            continue
        chosen, best, best_preference = -1, -1, math.inf
        group = this.group
        while number < mine.option_last and option(w, number).group == group:
            end = w.now + estimate / option(w, number).speed
            kinds = option(w, number).large_kinds
            w.search += 1
            found, preference = best_node(w, prefer, job, kinds, large(w, number), end, -1)
            if found >= 0 and _better(preference, found, best_preference, best):
                chosen, best, best_preference = number, found, preference
            number += 1
        if chosen >= 0:
            node(w, 0).picked = best
            return chosen
    return -1


@inner
def _better(preference: float, number: int, best_preference: float, best: int) -> bool:
    return (
        best < 0
        or preference < best_preference
        or (preference == best_preference and number < best)
    )


@inner
def best_node(
    w: World, prefer: Any, job: int, kinds: int, chunk: Chunk, end: float, switch: int
) -> tuple[int, float]:
    """The admissible node with the lowest (preference, node) that the job does not use yet.

    `switch`: only nodes on this switch; -1: on any. Nodes that the same search has passed stay
    passed: a gang's later chunks are admissible nowhere else.
    """
    if w.looks_at_time:
        return _best_node_by_time(w, prefer, job, kinds, chunk, end, switch)
    sizes, parameters = seen(w), placement_parameters(w)
    best, best_preference = -1, math.inf
    for number in range(w.kind_count):
        if not kinds >> number & 1:
            continue
        for gpus in range(chunk.gpus, kind(w, number).gpus + 1):
            if level(w, number, gpus).count == 0:
                continue
            preference = prefer(parameters, chunk.gpus, gpus, end - w.now, 0.0, sizes)
            if best >= 0 and preference > best_preference:
                continue
            found = _first_in_level(w, job, number, gpus, chunk, end, switch)
            if found >= 0 and _better(preference, found, best_preference, best):
                best, best_preference = found, preference
    return best, best_preference


@inner
def _best_node_by_time(
    w: World, prefer: Any, job: int, kinds: int, chunk: Chunk, end: float, switch: int
) -> tuple[int, float]:
    """The same for preferences that tell nodes with equally many free GPUs apart."""
    sizes, parameters = seen(w), placement_parameters(w)
    best, best_preference = -1, math.inf
    for number in range(w.kind_count):
        if not kinds >> number & 1:
            continue
        for at in range(kind(w, number).first, kind(w, number).last):
            here = member(w, at).node
            free = node(w, here).gpus
            if free < chunk.gpus or node(w, here).used_by == job:
                continue
            if switch >= 0 and node(w, here).switch != switch:
                continue
            preference = prefer(parameters, chunk.gpus, free, end - w.now, _busy(w, here), sizes)
            if _better(preference, here, best_preference, best) and admissible(w, here, chunk, end):
                best, best_preference = here, preference
    return best, best_preference


@inner
def _busy(w: World, number: int) -> float:
    """Seconds until the last job of a node is expected to end; 0: idle."""
    last = w.now
    for i in range(node(w, number).running):
        last = max(last, run_of(w, slot(w, number, i).job).expected)
    return last - w.now


@inner
def _first_in_level(
    w: World, job: int, number: int, gpus: int, chunk: Chunk, end: float, switch: int
) -> int:
    """The lowest admissible node of a kind with so many free GPUs; -1: none.

    A search goes on where it was: from the beginning for each node of a gang, the 128 nodes of a
    large one took 8,000 looks.
    """
    this, here = kind(w, number), level(w, number, gpus)
    if here.search != w.search:
        here.search, here.cursor = w.search, 0
    skip = Word(here.cursor & 63)
    for i in range(here.cursor >> 6, this.words):
        bits = bitmap(w, here.word_first + i).bits >> skip << skip
        skip = Word(0)
        while bits != Word(0):
            place_in_kind = 64 * i + int(trailing_zeros(bits))
            found = member(w, this.first + place_in_kind).node
            if (
                node(w, found).used_by != job
                and (switch < 0 or node(w, found).switch == switch)
                and admissible(w, found, chunk, end)
            ):
                here.cursor = place_in_kind
                return found
            bits &= bits - Word(1)
    here.cursor = 64 * this.words
    return -1


@inner
def _pick_gang(
    w: World, prefer: Any, few_switches: bool, job: int, number: int, end: float
) -> bool:
    """Nodes for every chunk of a gang, large chunks first.

    False: each chunk has a node, but the reserved job cannot do without all of these at once.
    """
    this = option(w, number)
    switches, picked = 0, 0
    if few_switches:
        switches = _few_switches(w, this.large_kinds, large(w, number), end, this.many)
        for i in range(switches):
            switch = node(w, i).taken_switch
            w.search += 1
            while picked < this.many and _pick(
                w, prefer, job, this.large_kinds, large(w, number), end, switch, picked
            ):
                picked += 1
    w.search += 1
    while picked < this.many:
        if not _pick(w, prefer, job, this.large_kinds, large(w, number), end, -1, picked):
            return False
        picked += 1
    while picked < this.many + this.few:
        # On a switch already in use if there is room, else anywhere.
        best, best_preference = -1, math.inf
        for i in range(switches):
            switch = node(w, i).taken_switch
            w.search += 1
            found, preference = best_node(
                w, prefer, job, this.small_kinds, small(w, number), end, switch
            )
            if found >= 0 and _better(preference, found, best_preference, best):
                best, best_preference = found, preference
        if best < 0:
            w.search += 1
            best, _ = best_node(w, prefer, job, this.small_kinds, small(w, number), end, -1)
        if best < 0:
            return False
        _use(w, job, best, small(w, number), end, picked)
        picked += 1
    return True


@inner
def _pick(
    w: World, prefer: Any, job: int, kinds: int, chunk: Chunk, end: float, switch: int, at: int
) -> bool:
    found, _ = best_node(w, prefer, job, kinds, chunk, end, switch)
    if found < 0:
        return False
    _use(w, job, found, chunk, end, at)
    return True


@inner
def _use(w: World, job: int, number: int, chunk: Chunk, end: float, at: int) -> None:
    """Note a node for the gang in hand."""
    node(w, at).picked = number
    node(w, number).used_by = job
    spend(w, number, chunk, end)


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


@inner
def _few_switches(w: World, kinds: int, chunk: Chunk, end: float, many: int) -> int:
    """Choose switches: the tightest that holds all that is missing, else the roomiest.

    Returns how many; they are in taken_switch. There are never more switches than nodes.
    """
    switches = 0
    for number in range(w.node_count):
        node(w, number).room = 0
        switches = max(switches, node(w, number).switch + 1)
    for number in range(w.node_count):
        if kinds >> node(w, number).kind & 1 and admissible(w, number, chunk, end):
            node(w, node(w, number).switch).room += 1
    count, missing = 0, many
    while missing > 0:
        tightest, roomiest = -1, 0
        for switch in range(switches):
            room = node(w, switch).room
            if room >= missing and (tightest < 0 or room < node(w, tightest).room):
                tightest = switch
            if room > node(w, roomiest).room:
                roomiest = switch
        switch = tightest if tightest >= 0 else roomiest
        missing -= node(w, switch).room
        node(w, switch).room = -1
        node(w, count).taken_switch = switch
        count += 1
    return count
