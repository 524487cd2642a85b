"""Taking and giving back GPUs, with the index of nodes by free GPUs kept up to date."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail.compiled.functions import inner
from dovetail.compiled.tables import Word
from dovetail.simulator.kernel.bits import ONE, lowest_bits
from dovetail.simulator.kernel.rows import Chunk, World
from dovetail.simulator.kernel.state import bitmap, kind, level, node, slot


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


@inner
def set_free_gpus(w: World, number: int, gpus: int) -> None:
    """Note that a node now has `gpus` free GPUs."""
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
    here.gpus = gpus
    w.changes += 1
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
    here.cpus -= chunk.cpus
    here.memory -= chunk.memory
    own = slot(w, number, here.running)
    own.job, own.gpus, own.cpus, own.memory = job, chunk.gpus, chunk.cpus, chunk.memory
    here.running += 1
    set_free_gpus(w, number, here.gpus - chunk.gpus)


@inner
def give_back(w: World, job: int, number: int, gpus: np.uint64) -> None:
    """Free the chunk that a job holds on a node."""
    here = node(w, number)
    at = 0
    while slot(w, number, at).job != job:
        at += 1
    own = slot(w, number, at)
    here.bits |= gpus
    here.cpus += own.cpus
    here.memory += own.memory
    set_free_gpus(w, number, here.gpus + own.gpus)
    here.running -= 1
    last = slot(w, number, here.running)
    own.job, own.gpus, own.cpus, own.memory = last.job, last.gpus, last.cpus, last.memory
