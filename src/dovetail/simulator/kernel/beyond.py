"""What a cycle of Slurm's backfill has found to begin beyond its window: who asks for more does.

Within a cycle starts and plans only take room. In a deep queue many plans are left out: over RICC's
first 40,000 jobs 2.0 of 5.0 million need no look at the nodes any more, where each took several.
"""

from __future__ import annotations

from dovetail.compiled.functions import inner
from dovetail.simulator.kernel.demand_rows import OptionRow
from dovetail.simulator.kernel.promise_rows import Beyond
from dovetail.simulator.kernel.rows import World
from dovetail.simulator.kernel.state import beyond, option, shape

MOST = 32
"""Kept of a cycle; the first ones make room for more."""


@inner
def clear(w: World) -> None:
    w.beyond_count = 0


@inner
def is_beyond(w: World, number: int, length: float) -> bool:
    """Whether a job in an option is known to begin too late to be planned."""
    this = option(w, number)
    for i in range(min(w.beyond_count, MOST)):
        known = beyond(w, i)
        if length >= known.length and _asks_no_less(w, this, known):
            return True
    return False


@inner
def note(w: World, number: int, length: float) -> None:
    this, new = option(w, number), beyond(w, w.beyond_count % MOST)
    new.length, new.many, new.every = length, this.many, this.many + this.few
    new.large_shape, new.small_shape = this.large_shape, this.small_shape
    w.beyond_count += 1


@inner
def _asks_no_less(w: World, this: OptionRow, known: Beyond) -> bool:
    if this.many < known.many or not _is_no_smaller(w, this.large_shape, known.large_shape):
        return False
    if known.every == known.many:
        return True
    every = this.many + this.few
    return every >= known.every and _is_no_smaller(w, this.small_shape, known.small_shape)


@inner
def _is_no_smaller(w: World, at: int, other: int) -> bool:
    """Whether a shape asks for no less than another of no more nodes."""
    if at == other or at < 0:
        return at == other
    one, known = shape(w, at), shape(w, other)
    return (
        one.gpus >= known.gpus
        and one.cpus >= known.cpus
        and one.memory >= known.memory
        and one.kinds & ~known.kinds == 0
    )
