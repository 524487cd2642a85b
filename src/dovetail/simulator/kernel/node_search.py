"""The node that a placement likes best among those that admit a chunk."""

from __future__ import annotations

import math
from typing import Any

from dovetail.compiled.functions import inner
from dovetail.compiled.tables import Word
from dovetail.simulator.kernel.admission import admissible
from dovetail.simulator.kernel.bits import trailing_zeros
from dovetail.simulator.kernel.demand_rows import Chunk
from dovetail.simulator.kernel.rows import World
from dovetail.simulator.kernel.state import (
    bitmap,
    kind,
    level,
    member,
    node,
    placement_parameters,
    run_of,
    seen,
    slot,
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
            here = level(w, number, gpus)
            if here.count == 0:
                continue
            if here.search != w.search:  # asked once for all nodes of a gang
                here.search, here.cursor = w.search, 0
                here.preference = prefer(parameters, chunk.gpus, gpus, end - w.now, 0.0, sizes)
            preference = here.preference
            if best >= 0 and preference > best_preference:
                continue
            found = _first_in_level(w, job, number, gpus, chunk, end, switch)
            if found >= 0 and is_better(preference, found, best_preference, best):
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
            preference = prefer(
                parameters, chunk.gpus, free, end - w.now, busy_time(w, here), sizes
            )
            if is_better(preference, here, best_preference, best) and admissible(
                w, here, chunk, end
            ):
                best, best_preference = here, preference
    return best, best_preference


@inner
def busy_time(w: World, number: int) -> float:
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
def is_better(preference: float, number: int, best_preference: float, best: int) -> bool:
    return (
        best < 0
        or preference < best_preference
        or (preference == best_preference and number < best)
    )
