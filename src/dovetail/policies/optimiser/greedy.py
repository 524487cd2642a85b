"""Greedy placement over many orders of the jobs: a good plan in about a millisecond."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dovetail.compiled.functions import inner, kernel
from dovetail.domain.jobs import Ints
from dovetail.policies.optimiser.gangs import put_gang
from dovetail.policies.optimiser.moves import MUCH, put, room, take_back, waste_after
from dovetail.policies.optimiser.reduced_problem import Reduced
from dovetail.policies.optimiser.tables import (
    Board,
    GreedyTables,
    choice_row,
    group_row,
    job_row,
    moment_row,
    placed_row,
    shape_row,
    worth_row,
)


def fill_often(reduced: Reduced, starts: int, seed: int) -> tuple[int, Ints]:
    """The best of many greedy fillings: its value and its rows (as `Placed`)."""
    board = Board(reduced)
    value, rows = _fill_often(board.world, starts, seed)
    return int(value), rows


@inner
def _random(state: NDArray[np.uint64], below: int) -> int:
    """The next of a fixed sequence of numbers (xorshift), from 0 on."""
    word = state[0]
    word ^= word << np.uint64(13)
    word ^= word >> np.uint64(7)
    word ^= word << np.uint64(17)
    state[0] = word
    return int(np.int64((word >> np.uint64(11)) % np.uint64(below)))


@inner
def _put_single(w: GreedyTables, job: int, slot: int) -> int:
    """Place a job on the one node that costs least, of all shapes; the points, or MUCH."""
    best, best_shape, best_group, best_free = MUCH, -1, -1, 0
    for shape in range(job_row(w, job).first, job_row(w, job).last):
        row = shape_row(w, shape)
        if row.nodes > 1:
            continue
        for at in range(row.first, row.last):
            group = choice_row(w, at).group
            if room(w, shape, 0, group, slot) > 0:
                if slot == 0:
                    lost = waste_after(w, shape, 0, group) - group_row(w, group).waste
                    cost = row.penalty + lost
                else:
                    cost = 0
                # Where the plan sees no difference the job is packed, as best-fit would.
                free = moment_row(w, group * w.slot_count + slot).gpus
                if cost < best or (cost == best and free < best_free):
                    best, best_shape, best_group, best_free = cost, shape, group, free
    if best_shape < 0:
        return MUCH
    put(w, job, best_shape, 0, best_group, slot, 1)
    return best


@inner
def _put_job(w: GreedyTables, job: int, slot: int) -> int:
    """Place a job in this slot, on one node if it can; the points it costs, or MUCH."""
    cost = _put_single(w, job, slot)
    if cost < MUCH:
        return cost
    for shape in range(job_row(w, job).first, job_row(w, job).last):
        row = shape_row(w, shape)
        if row.nodes > 1:
            cost = put_gang(w, job, shape, slot)
            if cost < MUCH:
                return cost + (row.penalty if slot == 0 else 0)
    return MUCH


@inner
def _fill(w: GreedyTables, order: Ints, held: int) -> int:
    """Place the jobs in this order, each as soon as it fits, `held` not now; the value."""
    take_back(w, 0)
    value = 0
    for index in range(len(order)):
        job = order[index]
        for slot in range(1 if job == held else 0, w.slot_count):
            cost = _put_job(w, job, slot)
            if cost < MUCH:
                value += worth_row(w, job * w.slot_count + slot).points - cost
                break
    return value


@inner
def _disturb(order: Ints, best: Ints, state: NDArray[np.uint64]) -> None:
    """The best order with one to four jobs moved to another place."""
    order[:] = best
    for _ in range(1 + _random(state, 4)):
        origin, target = _random(state, len(order)), _random(state, len(order))
        job = order[origin]
        step = 1 if target > origin else -1
        while origin != target:
            order[origin] = order[origin + step]
            origin += step
        order[target] = job


@inner
def _rows(w: GreedyTables) -> Ints:
    rows = np.empty((w.placed_count, 6), np.int64)
    for index in range(w.placed_count):
        row = placed_row(w, index)
        rows[index, 0], rows[index, 1], rows[index, 2] = row.job, row.shape, row.size
        rows[index, 3], rows[index, 4], rows[index, 5] = row.group, row.slot, row.chunks
    return rows


@kernel
def _fill_often(world: NDArray[Any], starts: int, seed: int) -> tuple[int, Ints]:
    """First the order of priority, then that of worth, then disturbances of the best so far."""
    w = world[0]
    jobs, slots = w.job_count, w.slot_count
    order, best_order = np.arange(jobs), np.arange(jobs)
    worths = np.empty(jobs, np.int64)
    for job in range(jobs):
        worths[job] = -worth_row(w, job * slots).points
    state = np.array([np.uint64(seed * 2_654_435_769 + 88_172_645_463_325_252)])
    best, best_held, best_rows = -MUCH, -1, np.empty((0, 6), np.int64)
    for start in range(starts):
        held = -1
        if start == 1:
            order[:] = np.argsort(worths, kind="mergesort")
        elif start > 1 and jobs > 1:
            _disturb(order, best_order, state)
            held = best_held if start % 4 else _random(state, jobs)
        value = _fill(w, order, held)
        if value > best:
            best, best_held, best_rows = value, held, _rows(w)
            best_order[:] = order
    return best, best_rows
