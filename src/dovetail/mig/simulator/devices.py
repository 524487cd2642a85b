"""One GPU: what follows from its slots, its energy, and how it is cut anew.

A running instance is never touched: a GPU can be cut in another way only if that way has, at the
same places, all instances that run something. Instances that both ways have stay; the others
take `pause` seconds to make. What cannot be done now is skipped, or the GPU drains for it.
"""

from __future__ import annotations

import math

import numpy as np

from dovetail.compiled.functions import inner
from dovetail.mig.simulator.rows import (
    NOBODY,
    MigWorld,
    PieceRow,
    SlotRow,
    cut,
    gpu,
    kind,
    piece,
    power,
    slot,
)


@inner
def settle(w: MigWorld, number: int) -> None:
    """Book energy and work until now."""
    one = gpu(w, number)
    passed = w.now - one.since
    one.energy += power(w, one.kind, one.busy) * passed
    one.work += one.busy * passed
    one.since = w.now


@inner
def refresh(w: MigWorld, number: int) -> None:
    """Derive what follows from the slots of a GPU after these have changed."""
    settle(w, number)
    one = gpu(w, number)
    w.free -= one.free
    one.busy = one.free = 0
    one.next = one.ready
    for row in range(one.first, one.first + one.count):
        here = slot(w, row)
        if here.job != NOBODY:
            one.busy += here.size
            one.next = min(one.next, here.until)
        elif here.open and one.goal == NOBODY:
            one.free += 1
    w.free += one.free


@inner
def clear(here: SlotRow) -> None:
    """Nobody runs there."""
    here.job, here.begun, here.until = NOBODY, 0.0, math.inf


@inner
def shape(here: SlotRow, part: PieceRow, number: int) -> None:
    here.gpu, here.size, here.memory, here.offset = number, part.size, part.memory, part.offset


@inner
def fill(w: MigWorld, number: int, row: int) -> None:
    """Cut an idle GPU by this configuration, at once."""
    one = gpu(w, number)
    w.open_slots += cut(w, row).count - one.count
    one.cut, one.count = row, cut(w, row).count
    for place in range(one.count):
        here = slot(w, one.first + place)
        shape(here, piece(w, row, place), number)
        here.open = True
        clear(here)


@inner
def ask(w: MigWorld, number: int, way: int) -> None:
    """Let a GPU be cut in this way: now if it can be, else skip it or let it drain.

    A GPU of which slots are in the making is left alone. Its present way, or one that its kind
    does not have, ends any draining.
    """
    one = gpu(w, number)
    if one.ready < math.inf:
        return
    one.goal = NOBODY
    if way != cut(w, one.cut).way:
        row = _reachable(w, number, way)
        if row != NOBODY:
            _recut(w, number, row)
        elif w.drains and _known(w, one.kind, way):
            one.goal = way
    refresh(w, number)


@inner
def try_goal(w: MigWorld, number: int) -> None:
    """A job has ended on a GPU that drains: it may be cut now."""
    one = gpu(w, number)
    if one.goal != NOBODY:
        row = _reachable(w, number, one.goal)
        if row != NOBODY:
            one.goal = NOBODY
            _recut(w, number, row)


@inner
def finish_making(w: MigWorld, number: int) -> None:
    """The slots in the making exist."""
    one = gpu(w, number)
    one.ready = math.inf
    for row in range(one.first, one.first + one.count):
        slot(w, row).open = True


@inner
def _known(w: MigWorld, number: int, way: int) -> bool:
    mine = kind(w, number)
    return 0 <= way <= cut(w, mine.first + mine.count - 1).way


@inner
def _reachable(w: MigWorld, number: int, way: int) -> int:
    """The first configuration of this way that keeps all running instances; NOBODY: none."""
    one, mine = gpu(w, number), kind(w, gpu(w, number).kind)
    for row in range(mine.first, mine.first + mine.count):
        if cut(w, row).way == way:
            keeps = True
            for old in range(one.first, one.first + one.count):
                if slot(w, old).job != NOBODY and _place_of(w, slot(w, old), row) == NOBODY:
                    keeps = False
            if keeps:
                return row
    return NOBODY


@inner
def _place_of(w: MigWorld, here: SlotRow, row: int) -> int:
    """Where a configuration has this very instance; NOBODY: nowhere."""
    for place in range(cut(w, row).count):
        part = piece(w, row, place)
        if part.offset == here.offset and part.size == here.size and part.memory == here.memory:
            return place
    return NOBODY


@inner
def _recut(w: MigWorld, number: int, row: int) -> None:
    """Keep what both configurations have; what is new will exist after a pause."""
    one = gpu(w, number)
    count = cut(w, row).count
    kept = np.full(count, False)
    job, begun, until = np.full(count, NOBODY), np.zeros(count), np.full(count, math.inf)
    for old in range(one.first, one.first + one.count):
        here = slot(w, old)
        place = _place_of(w, here, row)
        if place != NOBODY:
            kept[place] = True
            job[place], begun[place], until[place] = here.job, here.begun, here.until
    w.open_slots += count - one.count
    one.cut, one.count, one.ready = row, count, w.now + w.pause
    for place in range(count):
        here = slot(w, one.first + place)
        shape(here, piece(w, row, place), number)
        here.open, here.job = kept[place], job[place]
        here.begun, here.until = begun[place], until[place]
    w.repartitions += 1
