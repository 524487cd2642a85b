"""The order in which Slurm alone would take the jobs, and how far another order is from it.

>>> moved((2, 1, 3), (1, 2, 3))  # mean and largest number of places
Moved(mean=0.6666666666666666, most=1)

Only jobs that may be touched are counted: the others keep their priority, whatever is decided.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from dovetail.live.guardrails.base import Situation


class Moved(NamedTuple):
    """Places between two orders, over all jobs, up or down."""

    mean: float
    most: int


def slurm_order(jobs: Iterable[int], situation: Situation) -> tuple[int, ...]:
    """The jobs by the priority that Slurm alone would give them, the older of equals first.

    Unknown ones come last, by number.
    """
    wanted = frozenset(jobs)
    order = situation.orders.get(wanted)
    if order is None:
        given = situation.own_priorities
        known = [job for job in wanted if job in given]
        numbers = np.array(known, np.int64)
        priorities = np.fromiter(map(given.__getitem__, known), np.int64, len(known))
        ranked = numbers[np.lexsort((numbers, -priorities))].tolist()
        order = (*ranked, *sorted(wanted.difference(known)))
        situation.orders[wanted] = order
    return order


def places(order: Sequence[int]) -> dict[int, int]:
    """Job -> its place, the first is 0."""
    return dict(zip(order, range(len(order)), strict=True))


def moved(order: Sequence[int], own: Sequence[int]) -> Moved:
    """How far the jobs of one order stand from their places in the other."""
    before = places(own)
    if not before:
        return Moved(0.0, 0)
    stood = np.fromiter(map(before.__getitem__, order), np.int64, len(order))
    shifts = np.abs(stood - np.arange(len(order)))
    return Moved(float(shifts.mean()), int(shifts.max()))
