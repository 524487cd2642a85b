"""Nodes that take no jobs: nothing of them counts as free while they are closed.

So the indexes of free nodes need not know of it, and no pass looks at a node that is down.
"""

from __future__ import annotations

import math

from dovetail.compiled.functions import inner
from dovetail.simulator.kernel.allocation import mark_stale, set_free
from dovetail.simulator.kernel.rows import World
from dovetail.simulator.kernel.state import kind, node, run_of, slot


@inner
def settle(w: World, number: int) -> None:
    """Close or open a node after what keeps it closed has changed."""
    here = node(w, number)
    here.reopens = math.inf if here.outages > 0 else here.reserved_until
    closed = here.outages > 0 or here.reservations > 0
    if closed and not here.closed:
        here.closed = True
        withdraw(w, number)
    elif here.closed and not closed:
        _open(w, number)
    mark_stale(w, number)  # when it has room by estimate may be another time


@inner
def withdraw(w: World, number: int) -> None:
    """Let nothing of a closed node be free, also after a job has left it."""
    here = node(w, number)
    kind(w, here.kind).idle -= here.running == 0
    kind(w, here.kind).closed += here.gpus
    set_free(w, number, 0, 0, 0)


@inner
def _open(w: World, number: int) -> None:
    here = node(w, number)
    gpus, cpus, memory = unused(w, number)
    here.closed = False
    kind(w, here.kind).idle += here.running == 0
    kind(w, here.kind).closed -= gpus
    set_free(w, number, gpus, cpus, memory)


@inner
def unused(w: World, number: int) -> tuple[int, int, int]:
    """What a closed node's jobs leave of it."""
    whole = kind(w, node(w, number).kind)
    gpus, cpus, memory = whole.gpus, whole.cpus, whole.memory
    for at in range(node(w, number).running):
        own = slot(w, number, at)
        gpus, cpus, memory = gpus - own.gpus, cpus - own.cpus, memory - own.memory
    return gpus, cpus, memory


@inner
def reopening(w: World, number: int, gpus: int, cpus: int, memory: int) -> float:
    """When a closed node has so much room, by estimate; inf: nobody knows. Slots are in order."""
    has_gpus, has_cpus, has_memory = unused(w, number)
    at, last = 0, -math.inf
    while has_gpus < gpus or has_cpus < cpus or has_memory < memory:
        own = slot(w, number, at)
        has_gpus, has_cpus = has_gpus + own.gpus, has_cpus + own.cpus
        has_memory += own.memory
        last = run_of(w, own.job).expected
        at += 1
    return max(node(w, number).reopens, last)
