"""Whether several placements exist at all: without a choice no solver is asked."""

from __future__ import annotations

import numpy as np

from dovetail.compiled.functions import inner, kernel
from dovetail.policies.optimiser.reduced_problem import Reduced


@kernel
def choice_in(reduced: Reduced) -> bool:
    """False if no job can start now, or if every job has one class of nodes to start on, its own.

    Which of several equal nodes a job gets is no choice; whether two jobs share a node is.
    """
    asks, groups, candidates = reduced.asks, reduced.groups, reduced.candidates
    nodes = 1 if len(groups.like) == 0 else groups.like.max() + 1
    owner, tried = np.full(nodes, -1, np.int64), np.full(nodes, -1, np.int64)
    startable, settled = 0, True
    for job in range(len(asks.points)):
        ways, starts = 0, 0
        for shape in range(asks.shape_of[job], asks.shape_of[job + 1]):
            starts |= _starts(reduced, shape)
            for at in range(candidates.first[shape], candidates.first[shape + 1]):
                group = candidates.group[at]
                like = groups.like[group]
                if _fits_now(reduced, shape, 0, group) or _fits_now(reduced, shape, 1, group):
                    settled = settled and (owner[like] == -1 or owner[like] == job)
                    ways += tried[like] != shape
                    owner[like], tried[like] = job, shape
        startable += starts
        settled = settled and starts == 1 and ways == 1
    return startable > 0 and not settled


@inner
def _starts(reduced: Reduced, shape: int) -> int:
    """1 if the shape fits now with the cluster to itself."""
    groups, candidates = reduced.groups, reduced.candidates
    large, small = 0, 0
    for at in range(candidates.first[shape], candidates.first[shape + 1]):
        group = candidates.group[at]
        count = groups.first[group + 1] - groups.first[group]
        large += count if _fits_now(reduced, shape, 0, group) else 0
        small += count if _fits_now(reduced, shape, 1, group) else 0
    many, few = reduced.asks.number[shape, 0], reduced.asks.number[shape, 1]
    # A small chunk fits wherever the large one does.
    return 1 if large >= many and (few == 0 or small >= many + few) else 0


@inner
def _fits_now(reduced: Reduced, shape: int, size: int, group: int) -> bool:
    chunk = reduced.asks.chunk[shape, size]
    have = reduced.groups.free[group, 0]
    fits = chunk[0] <= have[0] and chunk[1] <= have[1] and chunk[2] <= have[2]
    return bool(fits and reduced.asks.number[shape, size] > 0)
