"""Equal nodes merged: the groups that jobs choose from, far fewer than nodes.

Nodes are equal if kind and free GPUs, CPUs and memory agree now *and in every slot* of the
look-ahead (and the switch, if a job needs several nodes): classes are split by release behaviour,
so that a plan over groups is a plan over real nodes at every moment, not a relaxation.

A class becomes up to `singles` groups of one node each, on which jobs share GPUs, and one group of
the others, on which every chunk has its node to itself while it runs. So counts of chunks per group
always unfold to nodes: chunks on nodes of their own are intervals, and greedy colouring needs
no more nodes than overlap at one time. Amounts that can never bind are cut off first, as
memory that nobody can use would keep equal nodes apart.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dovetail.compiled.functions import inner, kernel
from dovetail.domain.jobs import Floats, Ints
from dovetail.domain.problem import Problem
from dovetail.policies.optimiser.job_arrays import JobArrays


class Groups(NamedTuple):
    """Groups of equal nodes; a group of one node is shared, a larger one is not."""

    first: Ints  # [groups + 1] into `nodes`
    nodes: Ints  # [nodes that some job can use] by group, ascending in each
    free: Ints  # [groups, slots, 3] of each node of the group
    kind: Ints  # [groups]
    switch: Ints  # [groups] 0 for all if no job needs several nodes
    like: Ints  # [groups] the lowest node of the class that it is a part of


def groups_of(problem: Problem, asks: JobArrays, singles: int) -> Groups:
    """Merge the nodes that some job can use."""
    nodes, slots = problem.nodes, problem.slots
    gangs = bool((asks.number.sum(axis=1) > 1).any())
    switch = nodes.switch if gangs else np.zeros(len(nodes), np.int64)
    released = nodes.releases
    free = free_over_slots(nodes.free, released.end, released.node, released.amount, slots)
    # All jobs on one node, and every GPU left of it filled with the greediest chunk: more never
    # binds, and never changes what counts as stranded.
    most = np.max(free[:, -1, 0], initial=0)
    greediest = asks.chunk.max(axis=(0, 1))
    ceiling = greediest * (len(problem.jobs) + most)
    np.minimum(free[:, :, 1:], ceiling[1:], out=free[:, :, 1:])
    return _merge(free, nodes.kind, switch, _ascending(asks), singles)


def _ascending(asks: JobArrays) -> Ints:
    """The chunks that are asked for, with the kinds they may use, those of fewest GPUs first."""
    used = asks.number.reshape(-1) > 0
    chunks = np.column_stack([asks.chunk.reshape(-1, 3), np.repeat(asks.kinds, 2)])[used]
    return chunks[np.argsort(chunks[:, 0], kind="stable")]


@kernel
def free_over_slots(free: Ints, end: Floats, node: Ints, amount: Ints, slots: Floats) -> Ints:
    """Free amounts per node and slot if running chunks end as believed and nothing starts."""
    result = np.empty((len(free), len(slots), 3), np.int64)
    for slot in range(len(slots)):
        result[:, slot] = free
    for row in range(len(end)):
        # What should have ended by now has not: it counts from the first later slot on.
        for slot in range(1, len(slots)):
            if end[row] <= slots[slot]:
                for what in range(3):
                    result[node[row], slot, what] += amount[row, what]
    return result


@inner
def _least_use(free: Ints, node: int, kind: int, ascending: Ints) -> int:
    """The fewest GPUs that a chunk takes of such a node in the end; 0 if none fits."""
    last = free.shape[1] - 1
    for row in range(len(ascending)):
        if ascending[row, 3] >> kind & 1 and ascending[row, 0] <= free[node, last, 0]:
            if ascending[row, 1] <= free[node, last, 1]:
                if ascending[row, 2] <= free[node, last, 2]:
                    return ascending[row, 0]
    return 0


@inner
def _equal(free: Ints, kind: Ints, switch: Ints, a: int, b: int) -> bool:
    if kind[a] != kind[b] or switch[a] != switch[b]:
        return False
    for slot in range(free.shape[1]):
        for what in range(3):
            if free[a, slot, what] != free[b, slot, what]:
                return False
    return True


@inner
def _classes(free: Ints, kind: Ints, switch: Ints, ascending: Ints) -> tuple[Ints, Ints, Ints]:
    """Per node its class (-1: of no use), per class its first node and its least use."""
    nodes, slots = len(free), free.shape[1]
    size = 4
    while size < 2 * nodes:
        size *= 2
    table = np.full(size, -1, np.int64)
    class_of = np.full(nodes, -1, np.int64)
    first, least = np.empty(nodes, np.int64), np.empty(nodes, np.int64)
    classes = 0
    for node in range(nodes):
        if free[node, slots - 1, 0] == 0:
            continue
        mixed = np.uint64(kind[node] * 1_000_003 + switch[node])
        for slot in range(slots):
            for what in range(3):
                mixed = (mixed ^ np.uint64(free[node, slot, what])) * np.uint64(0x9E3779B97F4A7C15)
                mixed ^= mixed >> np.uint64(29)
        place = np.int64(mixed & np.uint64(size - 1))
        while table[place] >= 0 and not _equal(free, kind, switch, first[table[place]], node):
            place = (place + 1) % size
        if table[place] < 0:
            table[place] = classes
            first[classes] = node
            least[classes] = _least_use(free, node, kind[node], ascending)
            classes += 1
        if least[table[place]]:
            class_of[node] = table[place]
    return class_of, first[:classes], least[:classes]


@kernel
def _merge(free: Ints, kind: Ints, switch: Ints, ascending: Ints, singles: int) -> Groups:
    class_of, first_node, least = _classes(free, kind, switch, ascending)
    classes, slots = len(first_node), free.shape[1]
    start = np.zeros(classes + 1, np.int64)
    for node in range(len(free)):
        if class_of[node] >= 0:
            start[class_of[node] + 1] += 1
    for index in range(classes):
        start[index + 1] += start[index]
    nodes, filled = np.empty(start[classes], np.int64), start[:-1].copy()
    for node in range(len(free)):
        if class_of[node] >= 0:
            nodes[filled[class_of[node]]] = node
            filled[class_of[node]] += 1
    first = np.empty(len(nodes) + 1, np.int64)
    origin = np.empty(len(nodes), np.int64)
    groups = 0
    for index in range(classes):
        count = start[index + 1] - start[index]
        if count == 0:
            continue
        # Where two chunks never fit side by side there is nothing to share.
        alone = 2 * least[index] > free[first_node[index], slots - 1, 0]
        shared = 0 if alone else min(count, singles)
        for offset in range(shared):
            first[groups], origin[groups] = start[index] + offset, first_node[index]
            groups += 1
        if shared < count:
            first[groups], origin[groups] = start[index] + shared, first_node[index]
            groups += 1
    first[groups] = len(nodes)
    made = origin[:groups]
    return Groups(first[: groups + 1], nodes, free[made], kind[made], switch[made], made)
