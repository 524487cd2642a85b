"""A few groups per shape: where it fits soonest, and with the least waste."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dovetail.compiled.functions import inner, kernel
from dovetail.domain.jobs import Ints
from dovetail.policies.optimiser.groups import Groups
from dovetail.policies.optimiser.job_arrays import JobArrays

NEVER = 1 << 50
SLOT_STEP = 1 << 40
"""Between the keys of two slots: more than any waste."""

TIE = 128
"""More than a node's GPUs: where waste is equal, the node with the fewest free ones goes first."""


class Candidates(NamedTuple):
    """Shape s may use the groups `group[first[s]:first[s + 1]]`, the best first."""

    first: Ints  # [shapes + 1]
    group: Ints
    waste: Ints  # [groups] points lost to stranded GPUs now, before any start


@inner
def node_waste(
    gpus: int, cpus: int, memory: int, kind: int, wanted: Ints, kinds: Ints, rate: Ints
) -> int:
    """Points lost to GPUs stranded on a node with so much free; as `objective.waste`."""
    points = 0
    for row in range(len(rate)):
        if kinds[row] >> kind & 1:
            fits = gpus // wanted[row, 0]
            # CPUs and memory seldom bind: a product spares two divisions.
            if fits * wanted[row, 1] > cpus:
                fits = cpus // wanted[row, 1]
            if fits * wanted[row, 2] > memory:
                fits = memory // wanted[row, 2]
            points += rate[row] * (gpus - wanted[row, 0] * fits)
    return points


@inner
def _first_fit(free: Ints, group: int, chunk: Ints, row: int, size: int) -> int:
    """The first slot in which the chunk fits on an untouched node of the group; -1 if in none."""
    for slot in range(free.shape[1]):
        if chunk[row, size, 0] <= free[group, slot, 0]:
            if chunk[row, size, 1] <= free[group, slot, 1]:
                if chunk[row, size, 2] <= free[group, slot, 2]:
                    return slot
    return -1


@inner
def _keys(
    shape: int, asks: JobArrays, groups: Groups, waste: Ints, crowd: Ints, keys: Ints
) -> None:
    """How much a shape likes each group: sooner, then together (gangs), then tidier."""
    number, chunk, kinds = asks.number, asks.chunk, asks.kinds[shape]
    wanted, wanted_kinds, rate = asks.wanted, asks.wanted_kinds, asks.rate
    free, kind, switch, first = groups.free, groups.kind, groups.switch, groups.first
    gang = number[shape, 0] + number[shape, 1] > 1
    size = 1 if number[shape, 1] else 0
    crowd[:] = 0
    for group in range(len(keys)):
        keys[group] = NEVER
        slot = -1
        if kinds >> kind[group] & 1:
            slot = _first_fit(free, group, chunk, shape, size)
        if slot > 0:
            keys[group] = slot * SLOT_STEP
        if slot == 0:
            fitting = 0 if chunk[shape, 0, 0] <= free[group, 0, 0] else size
            after = node_waste(
                free[group, 0, 0] - chunk[shape, fitting, 0],
                max(0, free[group, 0, 1] - chunk[shape, fitting, 1]),
                max(0, free[group, 0, 2] - chunk[shape, fitting, 2]),
                kind[group], wanted, wanted_kinds, rate,
            )  # fmt: skip
            keys[group] = SLOT_STEP // 4 + (after - waste[group]) * TIE + free[group, 0, 0]
            if gang:
                crowd[switch[group]] += first[group + 1] - first[group]
    if gang:
        for group in range(len(keys)):
            if keys[group] < SLOT_STEP:
                near = min(crowd[switch[group]], 63)
                keys[group] += (63 - near << 32) + (switch[group] % 128 << 25)


@inner
def _lowest(keys: Ints, found: Ints) -> int:
    """The groups with the lowest keys, in order, as many as `found` has places.

    With a full sort, and slices of arrays, 23 shapes on 800 groups took 1.1 ms; this way 0.13 ms.
    """
    taken = 0
    for group in range(len(keys)):
        key = keys[group]
        if key >= NEVER or (taken == len(found) and key >= keys[found[taken - 1]]):
            continue
        at = taken if taken < len(found) else taken - 1
        while at > 0 and keys[found[at - 1]] > key:
            found[at] = found[at - 1]
            at -= 1
        found[at] = group
        taken = min(taken + 1, len(found))
    return taken


@inner
def _collect(
    order: Ints, shape: int, limit: int, asks: JobArrays, groups: Groups, claimed: Ints, found: Ints
) -> int:
    """Half of the places to the best groups, half to the best that earlier jobs left over.

    Sixteen equal jobs would otherwise all name the same eight groups.
    """
    need = asks.number[shape, 0] + asks.number[shape, 1]
    gpus = asks.chunk[shape, 0, 0]
    first, free = groups.first, groups.free
    last = free.shape[1] - 1
    taken, places, mine = 0, 0, 0
    for position in range(len(order)):
        if places >= 2 * need and taken >= limit and mine >= need:
            break
        group = order[position]
        count = first[group + 1] - first[group]
        unclaimed = count * free[group, last, 0] - claimed[group]
        if taken < (limit + 1) // 2 or unclaimed >= gpus or places < 2 * need:
            found[taken] = group
            taken += 1
            places += count
            if unclaimed >= gpus and mine < need:
                chunks = min(need - mine, min(count, unclaimed // gpus))
                claimed[group] += chunks * gpus
                mine += chunks
    for position in range(len(order)):
        if taken >= limit:
            break
        if not np.any(found[:taken] == order[position]):
            found[taken] = order[position]
            taken += 1
    return taken


@kernel
def candidates_of(asks: JobArrays, groups: Groups, limit: int) -> Candidates:
    """The groups each shape may use; `limit` or a few more, as a gang needs."""
    shapes, number = len(asks.kinds), len(groups.kind)
    waste = np.empty(number, np.int64)
    for row in range(number):
        have = groups.free[row, 0]
        waste[row] = node_waste(
            have[0], have[1], have[2],
            groups.kind[row], asks.wanted, asks.wanted_kinds, asks.rate,
        )  # fmt: skip
    switches = 1 if number == 0 else groups.switch.max() + 1
    crowd, claimed = np.empty(switches, np.int64), np.zeros(number, np.int64)
    keys = np.empty(number, np.int64)
    places = min(number, 4 * max(limit, asks.number.sum(axis=1).max()))
    order, length = np.empty((shapes, places), np.int64), np.empty(shapes, np.int64)
    first = np.zeros(shapes + 1, np.int64)
    group, found = np.empty(shapes * places, np.int64), np.empty(places, np.int64)
    for shape in range(shapes):
        same = asks.alike[shape]
        if same == shape:
            _keys(shape, asks, groups, waste, crowd, keys)
            length[shape] = _lowest(keys, order[shape])
        taken = _collect(order[same, : length[same]], shape, limit, asks, groups, claimed, found)
        group[first[shape] : first[shape] + taken] = found[:taken]
        first[shape + 1] = first[shape] + taken
    return Candidates(first, group[: first[shapes]].copy(), waste)
