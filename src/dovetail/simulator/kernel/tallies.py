"""What chunks that stay too long would cost a reserved job: node by node, and counted by shape.

A demand may start beside a reservation if enough nodes have room for it that the reserved job can
do without. Counted anew for every demand after every start, that was most of a pass: each look
goes through the jobs of a node. A tally is counted when a shape is first asked for, and from then
on changes with the nodes, as long as the reservation stands.
"""

from __future__ import annotations

from dovetail.compiled.functions import inner
from dovetail.compiled.tables import Word
from dovetail.simulator.kernel.allocation import fits, free_nodes
from dovetail.simulator.kernel.bits import trailing_zeros
from dovetail.simulator.kernel.closures import unused
from dovetail.simulator.kernel.demand_rows import Chunk
from dovetail.simulator.kernel.node_space import is_unplanned
from dovetail.simulator.kernel.releases import expected_end
from dovetail.simulator.kernel.reservation_rows import ChunkShape, Reservation, Tally
from dovetail.simulator.kernel.rows import World
from dovetail.simulator.kernel.state import (
    bitmap,
    hold,
    kind,
    large,
    level,
    member,
    node,
    option,
    reservation,
    shape,
    slot,
    small,
    tally,
)


@inner
def room_at(w: World, held: Reservation, number: int) -> tuple[int, int, int]:
    """GPUs, CPUs and memory of a node at the reserved time, if nothing new starts there."""
    here = node(w, number)
    if here.later_of != held.serial:
        gpus, cpus, memory = here.gpus, here.cpus, here.memory
        if here.closed:
            gpus, cpus, memory = unused(w, number)
        for at in range(here.running):
            if expected_end(w, number, at) <= held.time:
                own = slot(w, number, at)
                gpus, cpus, memory = gpus + own.gpus, cpus + own.cpus, memory + own.memory
        if _is_barred(w, held, number):
            gpus = cpus = memory = 0
        here.later_of = held.serial
        here.later_gpus, here.later_cpus, here.later_memory = gpus, cpus, memory
    return here.later_gpus, here.later_cpus, here.later_memory


@inner
def _is_barred(w: World, held: Reservation, number: int) -> bool:
    """Whether a node is closed at some moment of the reserved job's run."""
    here = node(w, number)
    if here.closed and here.reopens > held.time:
        return True
    return here.hold >= 0 and not is_unplanned(w, number, held.time, held.end)


@inner
def _loses(room: tuple[int, int, int], needed: Chunk, taken: tuple[int, int, int]) -> bool:
    """Whether there is room for one chunk, but not beside another."""
    gpus, cpus, memory = room
    if gpus < needed.gpus or cpus < needed.cpus or memory < needed.memory:
        return False
    return (
        gpus - taken[0] < needed.gpus
        or cpus - taken[1] < needed.cpus
        or memory - taken[2] < needed.memory
    )


@inner
def _costs_of(
    w: World, held: Reservation, at: int, room: tuple[int, int, int], taken: tuple[int, int, int]
) -> tuple[int, int]:
    """The same for a node of a kind that has so much room at the reserved time."""
    this = option(w, held.option)
    loses_large = this.large_kinds >> at & 1 and _loses(room, large(w, held.option), taken)
    loses_small = this.small_kinds >> at & 1 and _loses(room, small(w, held.option), taken)
    return int(loses_large), int(loses_small)


@inner
def costs(w: World, held: Reservation, number: int, chunk: Chunk) -> tuple[int, int]:
    """What a chunk on a node, if it stays too long, costs the reserved job: a node for a large
    chunk, a node for a small one."""
    taken = chunk.gpus, chunk.cpus, chunk.memory
    return _costs_of(w, held, node(w, number).kind, room_at(w, held, number), taken)


@inner
def lost_nodes(w: World, number: int, at: int) -> int:
    """Nodes with room for a shape that long chunks of it cannot all have, for a reservation."""
    held, found, free = reservation(w, number), tally(w, number, at), free_nodes(w, at)
    if found.serial != held.serial:
        if _is_barren(w, number, at):
            return free
        _count_all(w, number, at)
        if free == _lost(held, found):
            found.next_barren, held.barren = held.barren, at
    return _lost(held, found)


@inner
def _lost(held: Reservation, found: Tally) -> int:
    return found.lost_large + found.lost_small + found.lost_both - _most_spared(held, found)


@inner
def _is_barren(w: World, number: int, at: int) -> bool:
    """Whether no node is left even for a shape that asks for less and may use more.

    Once there is none, there is none as long as the reservation stands: what starts takes room,
    and a node that the reserved job cannot use any more was one that it could do without.
    """
    held, this = reservation(w, number), shape(w, at)
    if this.kinds & ~held.kinds:
        return False
    following = held.barren
    while following >= 0:
        other = shape(w, following)
        if fits(this, other) and this.kinds & ~other.kinds == 0:
            return True
        following = tally(w, number, following).next_barren
    return False


@inner
def _most_spared(held: Reservation, found: Tally) -> int:
    """How many of the nodes tallied the reserved job can do without."""
    one = min(found.lost_large, held.spare_large)
    other = min(found.lost_small, held.spare_small)
    return one + other + min(found.lost_both, held.spare_large - one, held.spare_small - other)


@inner
def count_node(w: World, number: int, at: int, by: int) -> None:
    """Add a node to, or take it out of, all tallies of a reservation."""
    held, here = reservation(w, number), node(w, at)
    if held.tally < 0 or (here.gpus == 0 and not w.mixed):
        return
    room, following = room_at(w, held, at), held.tally
    while following >= 0:
        this, found = shape(w, following), tally(w, number, following)
        if this.kinds >> here.kind & 1 and fits(here, this):
            _count(w, held, found, this, here.kind, room, by)
        following = found.next


@inner
def _count(
    w: World,
    held: Reservation,
    found: Tally,
    this: ChunkShape,
    at: int,
    room: tuple[int, int, int],
    by: int,
) -> None:
    """Count so many nodes of a kind."""
    taken = this.gpus, this.cpus, this.memory
    loses_large, loses_small = _costs_of(w, held, at, room, taken)
    if loses_large and loses_small:
        found.lost_both += by
    elif loses_large:
        found.lost_large += by
    elif loses_small:
        found.lost_small += by


@inner
def _count_all(w: World, number: int, at: int) -> None:
    """Begin a tally: every node with room for a shape that a reservation may use."""
    held, found, this = reservation(w, number), tally(w, number, at), shape(w, at)
    found.serial, found.next, held.tally = held.serial, held.tally, at
    found.lost_large = found.lost_small = found.lost_both = 0
    for where in range(w.kind_count):
        if not (held.kinds & this.kinds) >> where & 1:
            continue
        whole = kind(w, where)
        # Idle nodes are all alike; only those with jobs are looked at.
        room = whole.gpus, whole.cpus, whole.memory
        _count(w, held, found, this, where, room, _usable_idle(w, held, where))
        for gpus in range(this.gpus, whole.gpus + 1):
            idle = whole.idle if gpus == whole.gpus else 0
            if level(w, where, gpus).count > idle:
                _count_level(w, held, found, this, where, gpus)


@inner
def _usable_idle(w: World, held: Reservation, where: int) -> int:
    """Idle nodes of a kind that the reserved job could have; one that is barred costs nothing."""
    count = kind(w, where).idle
    if held.end > w.first_hold:
        for i in range(w.hold_count):
            number = hold(w, i).node
            here = node(w, number)
            if here.hold == i and here.kind == where and here.running == 0 and not here.closed:
                count -= _is_barred(w, held, number)
    return count


@inner
def _count_level(
    w: World, held: Reservation, found: Tally, this: ChunkShape, where: int, gpus: int
) -> None:
    here, first = kind(w, where), level(w, where, gpus).word_first
    for i in range(here.words):
        bits = bitmap(w, first + i).bits
        while bits != Word(0):
            number = member(w, here.first + 64 * i + int(trailing_zeros(bits))).node
            if node(w, number).running > 0 and fits(node(w, number), this):
                _count(w, held, found, this, where, room_at(w, held, number), 1)
            bits &= bits - Word(1)
