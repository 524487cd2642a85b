"""Taking and giving back GPUs, with the index of nodes by free GPUs kept up to date."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail.compiled.functions import inner
from dovetail.compiled.tables import Word
from dovetail.simulator.kernel.bits import ONE, lowest_bits
from dovetail.simulator.kernel.demand_rows import Chunk
from dovetail.simulator.kernel.reservation_rows import ShapeGroup
from dovetail.simulator.kernel.rows import World
from dovetail.simulator.kernel.state import (
    bitmap,
    change,
    kind,
    kind_shape,
    level,
    node,
    shape,
    shape_block,
    shape_group,
    slot,
)

SHAPE_BLOCK = 16


@inner
def fits(have: Any, chunk: Any) -> bool:
    """Whether gpus, cpus and memory of one row cover those of another."""
    return have.gpus >= chunk.gpus and have.cpus >= chunk.cpus and have.memory >= chunk.memory


@inner
def mark_stale(w: World, number: int) -> None:
    """Note that the estimated releases of a node have changed."""
    here = node(w, number)
    if not here.stale:
        here.stale = True
        node(w, w.stale_count).stale_node = number
        w.stale_count += 1
        change(w, w.changed % w.node_count).node = number
        w.changed += 1


@inner
def _recount(w: World, number: int, gpus: int, cpus: int, memory: int) -> None:
    """Count a node in or out for the shapes that gain or lose it, before so much of it is free.

    That spares every demand in every pass a look at each of 1,000 nodes.
    """
    here = node(w, number)
    for at in range(kind(w, here.kind).group_first, kind(w, here.kind).group_last):
        group = shape_group(w, at)
        if group.gpus > gpus and group.gpus > here.gpus:
            break
        before = after = group.first
        if here.gpus >= group.gpus and here.cpus >= group.cpus:
            before = _covered(w, group, here.memory)
        if gpus >= group.gpus and cpus >= group.cpus:
            after = _covered(w, group, memory)
        if before < after:
            _count(w, before, after, 1)
        elif after < before:
            _count(w, after, before, -1)


@inner
def _count(w: World, first: int, last: int, by: int) -> None:
    """Count a node in or out for neighbouring shapes; with 1,000 of them that is hundreds."""
    at = first
    while at < last:
        block = shape_block(w, at // SHAPE_BLOCK)
        if at % SHAPE_BLOCK == 0 and at + SHAPE_BLOCK <= last and block.alone:
            block.free += by
            at += SHAPE_BLOCK
        else:
            shape(w, kind_shape(w, at).shape).free += by
            at += 1


@inner
def free_nodes(w: World, at: int) -> int:
    """Nodes that have room for a shape now."""
    this = shape(w, at)
    return this.free + shape_block(w, this.block).free if this.block >= 0 else this.free


@inner
def _covered(w: World, group: ShapeGroup, memory: int) -> int:
    """The first shape of a group that asks for more memory than that."""
    low, high = group.first, group.last
    while low < high:
        middle = (low + high) >> 1
        if kind_shape(w, middle).memory <= memory:
            low = middle + 1
        else:
            high = middle
    return low


@inner
def set_free(w: World, number: int, gpus: int, cpus: int, memory: int) -> None:
    """Note that so much of a node is free now."""
    _recount(w, number, gpus, cpus, memory)
    here = node(w, number)
    before = level(w, here.kind, here.gpus)
    after = level(w, here.kind, gpus)
    bit = ONE << Word(here.place & 63)
    bitmap(w, before.word_first + (here.place >> 6)).bits ^= bit
    bitmap(w, after.word_first + (here.place >> 6)).bits ^= bit
    before.count -= 1
    after.count += 1
    whole = kind(w, here.kind).gpus
    w.free_gpus += gpus - here.gpus
    kind(w, here.kind).free += gpus - here.gpus
    w.stranded_gpus += (gpus if gpus < whole else 0) - (here.gpus if here.gpus < whole else 0)
    here.gpus, here.cpus, here.memory = gpus, cpus, memory
    here.later_of = 0
    mark_stale(w, number)


@inner
def take(w: World, job: int, number: int, chunk: Chunk) -> np.uint64:
    """Give a chunk of a node to a job; returns the GPUs as bits."""
    gpus = lowest_bits(node(w, number).bits, chunk.gpus)
    take_bits(w, job, number, chunk, gpus)
    return gpus


@inner
def take_bits(w: World, job: int, number: int, chunk: Chunk, gpus: np.uint64) -> None:
    """Give a chunk of a node to a job, on these GPUs."""
    here = node(w, number)
    here.bits ^= gpus
    own = slot(w, number, here.running)
    own.job, own.gpus, own.cpus, own.memory = job, chunk.gpus, chunk.cpus, chunk.memory
    kind(w, here.kind).idle -= here.running == 0
    here.running += 1
    set_free(w, number, here.gpus - chunk.gpus, here.cpus - chunk.cpus, here.memory - chunk.memory)


@inner
def give_back(w: World, job: int, number: int, gpus: np.uint64) -> None:
    """Free the chunk that a job holds on a node."""
    here = node(w, number)
    at = 0
    while slot(w, number, at).job != job:
        at += 1
    own = slot(w, number, at)
    here.bits |= gpus
    set_free(w, number, here.gpus + own.gpus, here.cpus + own.cpus, here.memory + own.memory)
    here.running -= 1
    kind(w, here.kind).idle += here.running == 0
    last = slot(w, number, here.running)
    own.job, own.gpus, own.cpus, own.memory = last.job, last.gpus, last.cpus, last.memory
