"""The order in which Slurm alone would take the jobs, and how far another order is from it.

    own = slurm_order(decision.order, situation)
    moved(decision.order, own)                    # mean and largest number of places

Only jobs that may be touched are counted: the others keep their priority, whatever is decided.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from dovetail.live.guardrails.base import Situation


class Moved(NamedTuple):
    """Places between two orders, over all jobs, up or down."""

    mean: float
    most: int


def slurm_order(jobs: Iterable[int], situation: Situation) -> tuple[int, ...]:
    """The jobs by the priority that Slurm alone would give them, highest first, then by number."""
    priority = own_priorities(situation)
    known = {job: priority.get(job, 0) for job in sorted(jobs)}
    # Two sorts, the second of which keeps the order of equals: a third of the time of one by pairs.
    return tuple(sorted(known, key=known.__getitem__, reverse=True))


def own_priorities(situation: Situation) -> Mapping[int, int]:
    """What Slurm alone gives every pending job; where we froze one, what it gave before."""
    snapshot = situation.snapshot
    priorities = {job.id: job.priority for job in snapshot.pending}
    priorities.update({job: factor.own for job, factor in snapshot.factors.items()})
    for job, before in situation.slurm_priority.items():
        factor = snapshot.factors.get(job)
        if factor is not None and factor.frozen:
            priorities[job] = before
    return priorities


def places(order: Sequence[int]) -> dict[int, int]:
    """Job -> its place, the first is 0."""
    return {job: place for place, job in enumerate(order)}


def moved(order: Sequence[int], own: Sequence[int]) -> Moved:
    """How far the jobs of one order stand from their places in the other."""
    before = places(own)
    shifts = [abs(place - before[job]) for place, job in enumerate(order)]
    return Moved(sum(shifts) / len(shifts), max(shifts)) if shifts else Moved(0.0, 0)
