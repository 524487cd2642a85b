"""From counts of chunks per group back to nodes: always the lowest that is free."""

from __future__ import annotations

from dovetail.domain.jobs import Ints
from dovetail.domain.plan import JobPlan
from dovetail.domain.problem import Problem
from dovetail.policies.optimiser.reduced_problem import Reduced


def expand(problem: Problem, reduced: Reduced, rows: Ints) -> tuple[JobPlan, ...]:
    """Every job's nodes and chunks; rows as `world.Placed`."""
    # As lists: single elements of arrays took a third of the time of a whole greedy plan.
    first_shape, last_slot = reduced.asks.shape_of.tolist(), reduced.asks.last.tolist()
    first, every = reduced.groups.first.tolist(), reduced.groups.nodes.tolist()
    nodes: dict[int, list[tuple[int, int]]] = {}
    told: dict[int, tuple[int, int]] = {}
    held_until: dict[int, int] = {}
    # In order of slots: then the lowest node whose last chunk has left is always enough.
    for job, shape, size, group, slot, chunks in sorted(rows.tolist(), key=lambda row: row[4]):
        told[job] = (slot, shape)
        members = every[first[group] : first[group + 1]]
        if len(members) == 1:
            chosen = members
        else:
            idle = (node for node in members if held_until.get(node, -1) < slot)
            chosen = [next(idle) for _ in range(chunks)]
            held_until.update(dict.fromkeys(chosen, last_slot[shape][slot]))
        nodes.setdefault(job, []).extend((size, node) for node in chosen)
    parts = []
    for job, ask in enumerate(problem.jobs):
        if job not in told:
            parts.append(JobPlan(job))
            continue
        slot, shape = told[job]
        row = shape - first_shape[job]
        sizes = (ask.shapes[row].large, ask.shapes[row].small)
        placed = sorted(nodes[job])
        chunks = tuple(sizes[size] for size, _ in placed)
        parts.append(JobPlan(job, slot, row, tuple(node for _, node in placed), chunks))
    return tuple(parts)
