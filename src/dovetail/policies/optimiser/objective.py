"""What a plan is worth, in whole points, so that plans of any solver compare exactly.

    value = Σ over planned jobs   weight · GPUs · DISCOUNT[slot]
          − Σ over jobs that start now   EXTRA_SWITCH · (switches used − 1)
                                       + EXTRA_NODE · (nodes used − the fewest any shape needs)
          − Σ over nodes   FRAGMENT · Σ over references   share · (stranded then − stranded before)

A *reference* is a chunk that the jobs of this problem ask for, with its share of their weight in
percent. GPUs of a node are *stranded* for a reference if they are free and yet serve no whole
number of it: `free GPUs − chunk GPUs · how often the chunk fits`, by GPUs, CPUs and memory. "Then"
is after the starts of now; later slots are a forecast and pay no penalties.

With weights of 40 or more and nodes of at most 16 GPUs no penalty of a chunk (15 GPUs stranded by
one, a switch and a node: 19,000) outweighs starting it now instead of later (20,000 per GPU): a
job is never held back to keep nodes tidy.

A job that is due gets, if it starts now, a prize of all that the others could be worth: only where
it starts is then a question. It is no reference as long as other jobs are there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from dovetail.domain.plan import JobPlan, Plan
from dovetail.domain.problem import ChunkDemand, JobAsk, Problem

DISCOUNT = (1000, 500, 350, 250)
"""Points per GPU and weight, by slot. Now counts double: a forecast may prove wrong."""

FRAGMENT = 10
"""Points per stranded GPU and percent of share: 1,000 for a GPU stranded for every job."""

EXTRA_SWITCH = 2000
EXTRA_NODE = 2000

REFERENCES = 3
"""Chunks that fragmentation is measured against: the three heaviest cover most of the weight."""


class Reference(NamedTuple):
    chunk: ChunkDemand
    kinds: int
    share: int


def references(jobs: Sequence[JobAsk]) -> list[Reference]:
    """The chunks that count for fragmentation, heaviest first."""
    weights: dict[tuple[ChunkDemand, int], int] = {}
    for job in [job for job in jobs if not job.due] or jobs:
        first = job.shapes[0]
        key = (first.large, first.kinds)
        weights[key] = weights.get(key, 0) + job.weight
    total = sum(weights.values())
    ranked = sorted(weights.items(), key=lambda item: (-item[1], item[0]))[:REFERENCES]
    return [Reference(*key, round(100 * weight / total)) for key, weight in ranked]


def waste(free: Sequence[int], kind: int, wanted: Iterable[Reference]) -> int:
    """Points lost to GPUs stranded on a node with so much free."""
    points = 0
    for chunk, kinds, share in wanted:
        if kinds >> kind & 1:
            fits = min(have // ask for have, ask in zip(free, chunk, strict=True) if ask)
            points += FRAGMENT * share * (free[0] - chunk.gpus * fits)
    return points


def points_of(jobs: Sequence[JobAsk], slots: int) -> list[list[int]]:
    """What each job is worth in each slot."""
    every = sum(job.weight * job.gpus for job in jobs)
    points = []
    for job in jobs:
        own = job.weight * job.gpus
        mine = [own * discount for discount in DISCOUNT[:slots]]
        if job.due:
            mine[0] += (every - own) * DISCOUNT[0]
        points.append(mine)
    return points


def value(problem: Problem, plan: Plan) -> int:
    """What a legal plan is worth; the one measure of all solvers."""
    return worth(problem, plan.jobs)


def worth(problem: Problem, parts: Sequence[JobPlan]) -> int:
    """The value of the jobs' parts."""
    points, worths = 0, points_of(problem.jobs, len(DISCOUNT))
    taken: dict[int, list[ChunkDemand]] = {}
    for part in parts:
        if part.slot is None or part.shape is None:
            continue
        job = problem.jobs[part.job]
        points += worths[part.job][part.slot]
        if part.slot == 0:
            points -= spread(problem, job, part)
            for node, chunk in zip(part.nodes, part.chunks, strict=True):
                taken.setdefault(node, []).append(chunk)
    return points - _fragmentation(problem, taken)


def spread(problem: Problem, job: JobAsk, part: JobPlan) -> int:
    """The penalty for switches and nodes beyond the fewest."""
    extra = len(part.nodes) - min(shape.nodes for shape in job.shapes)
    if len(part.nodes) == 1:
        return EXTRA_NODE * extra
    switches = {int(problem.nodes.switch[node]) for node in part.nodes}
    return EXTRA_NODE * extra + EXTRA_SWITCH * (len(switches) - 1)


def _fragmentation(problem: Problem, taken: dict[int, list[ChunkDemand]]) -> int:
    wanted = references(problem.jobs)
    points = 0
    for node, chunks in taken.items():
        before = problem.nodes.free[node].tolist()
        after = [have - sum(chunk[what] for chunk in chunks) for what, have in enumerate(before)]
        kind = int(problem.nodes.kind[node])
        points += waste(after, kind, wanted) - waste(before, kind, wanted)
    return points
