"""RLTune's own choice, kept as a baseline: pack or spread the first job, whichever occupies more.

Its integer program (Algorithm 1 of the paper) has one binary variable, so that trying both ways is
the closed form of it.
"""

from __future__ import annotations

import time

import numpy as np

from dovetail.compiled.functions import inner, kernel
from dovetail.domain.jobs import Ints
from dovetail.domain.plan import JobPlan, Plan
from dovetail.domain.problem import Problem
from dovetail.policies.optimiser.job_arrays import JobArrays, arrays_of_jobs
from dovetail.policies.optimiser.objective import worth

PACK, SPREAD = 1, -1
"""The sign with which free GPUs count: packing prefers few, spreading many."""


@inner
def _put_shape(free: Ints, kind: Ints, asks: JobArrays, shape: int, way: int, taken: Ints) -> int:
    """Put a shape on the preferred nodes, if it fits now; the number of nodes taken, or 0."""
    nodes = 0
    for size in range(2):
        chunk = asks.chunk[shape, size]
        for _ in range(asks.number[shape, size]):
            best, least = -1, 1 << 60
            for node in range(len(free)):
                have = free[node]
                if chunk[0] <= have[0] and chunk[1] <= have[1] and chunk[2] <= have[2]:
                    if way * have[0] < least and asks.kinds[shape] >> kind[node] & 1:
                        if not np.any(taken[:nodes] == node):
                            best, least = node, way * have[0]
            if best < 0:
                _give_back(free, asks, shape, taken[:nodes])
                return 0
            taken[nodes] = best
            nodes += 1
            free[best] -= chunk
    return nodes


@inner
def _give_back(free: Ints, asks: JobArrays, shape: int, taken: Ints) -> None:
    for position in range(len(taken)):
        size = 0 if position < asks.number[shape, 0] else 1
        free[taken[position]] += asks.chunk[shape, size]


@kernel
def occupancy(
    free: Ints, kind: Ints, asks: JobArrays, way: int, taken: Ints
) -> tuple[int, int, int]:
    """(GPUs that all jobs then occupy, shape and number of nodes of the first job).

    The first job goes the given way, in the shape with the fewest or the most nodes; the
    others are packed after it, in order of priority.
    """
    free = free.copy()
    others = np.empty(len(taken), np.int64)
    total, chosen, nodes = 0, -1, 0
    for job in range(len(asks.points)):
        low, high = asks.shape_of[job], asks.shape_of[job + 1]
        order = np.argsort(asks.number[low:high].sum(axis=1) * (way if job == 0 else PACK))
        for position in order:
            shape = low + position
            used = _put_shape(
                free, kind, asks, shape, way if job == 0 else PACK, taken if job == 0 else others
            )
            if used:
                if job == 0:
                    chosen, nodes = shape, used
                total += (asks.number[shape] * asks.chunk[shape, :, 0]).sum()
                break
    return total, chosen, nodes


def rltune_way(problem: Problem) -> Plan:
    """Where RLTune would start the first job; the other jobs are left unplanned."""
    began = time.perf_counter()
    asks = arrays_of_jobs(problem)
    most = max(1, int(asks.number.sum(axis=1).max()))
    packed, spread = np.empty(most, np.int64), np.empty(most, np.int64)
    free, kind = problem.nodes.free, problem.nodes.kind
    by_packing = occupancy(free, kind, asks, PACK, packed)
    by_spreading = occupancy(free, kind, asks, SPREAD, spread)
    packs = by_packing[0] >= by_spreading[0]
    _, shape, count = by_packing if packs else by_spreading
    told = f"packing occupies {by_packing[0]} GPUs, spreading {by_spreading[0]}"
    parts = [JobPlan(job) for job in range(len(problem.jobs))]
    if shape >= 0:
        ask = problem.jobs[0].shapes[shape]
        chunks = (ask.large,) * ask.many + (ask.small,) * ask.few
        nodes = tuple((packed if packs else spread)[:count].tolist())
        parts[0] = JobPlan(0, 0, int(shape), nodes, chunks)
    reason = f"{'packs' if packs else 'spreads'} the first job: {told}"
    points = worth(problem, parts)
    return Plan(tuple(parts), points, "rltune", None, time.perf_counter() - began, reason)
