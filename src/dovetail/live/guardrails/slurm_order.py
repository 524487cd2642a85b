"""The order in which Slurm alone would take the jobs, and how far another order is from it.

>>> moved((2, 1, 3), (1, 2, 3))  # mean and largest number of places
Moved(mean=0.6666666666666666, most=1)

Only jobs that may be touched are counted: the others keep their priority, whatever is decided.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from dovetail.live.guardrails.base import Situation


class Moved(NamedTuple):
    """Places between two orders, over all jobs, up or down."""

    mean: float
    most: int


def slurm_order(jobs: Iterable[int], situation: Situation) -> tuple[int, ...]:
    """The jobs by the priority that Slurm alone would give them; unknown ones last, by number."""
    wanted = frozenset(jobs)
    order = situation.orders.get(wanted)
    if order is None:
        known = tuple(job for job in situation.slurm_ranking if job in wanted)
        order = (*known, *sorted(wanted.difference(known))) if len(known) < len(wanted) else known
        situation.orders[wanted] = order
    return order


def places(order: Sequence[int]) -> dict[int, int]:
    """Job -> its place, the first is 0."""
    return {job: place for place, job in enumerate(order)}


def moved(order: Sequence[int], own: Sequence[int]) -> Moved:
    """How far the jobs of one order stand from their places in the other."""
    before = places(own)
    shifts = [abs(place - before[job]) for place, job in enumerate(order)]
    return Moved(sum(shifts) / len(shifts), max(shifts)) if shifts else Moved(0.0, 0)
