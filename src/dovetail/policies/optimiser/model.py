"""The placement model as one integer program: what may start where, and what fits together.

Columns: chunks of one size of a shape that start in a slot in a group (integer; 0 or 1 on a shared
node); per gang and slot whether it starts; per gang and switch whether it is used now; per shared
node and reference how often the reference still fits after the starts of now.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dovetail.domain.jobs import Ints
from dovetail.policies.optimiser.linear_program import ChunkColumns, Model, ProgramBuilder
from dovetail.policies.optimiser.objective import EXTRA_SWITCH
from dovetail.policies.optimiser.penalties import charge_fragmentation, charge_switches
from dovetail.policies.optimiser.reduced_problem import Reduced


def model_of(reduced: Reduced, rows: Ints) -> Model:
    """The program for a reduced problem, starting from the rows of a greedy filling."""
    sheet = ProgramBuilder()
    chunks, told = _chunk_columns(sheet, reduced, rows)
    _capacity(sheet, reduced, chunks)
    _gangs_and_once(sheet, reduced, chunks, rows)
    charge_switches(sheet, reduced, chunks, rows)
    charge_fragmentation(sheet, reduced, chunks, rows)
    row = np.concatenate([entry[0] for entry in sheet.entries])
    order = np.argsort(row, kind="stable")
    return Model(
        np.concatenate(sheet.cost),
        np.concatenate(sheet.most),
        np.concatenate(sheet.low),
        np.concatenate(sheet.high),
        np.searchsorted(row[order], np.arange(sheet.rows + 1)),
        np.concatenate([entry[1] for entry in sheet.entries])[order],
        np.concatenate([entry[2] for entry in sheet.entries])[order],
        told,
        np.concatenate(sheet.warm),
        sheet.constant,
    )


def _chunk_columns(
    sheet: ProgramBuilder, reduced: Reduced, rows: Ints
) -> tuple[ChunkColumns, Ints]:
    asks, groups, candidates = reduced
    slots = groups.free.shape[1]
    pair_shape = np.repeat(np.arange(len(asks.kinds)), np.diff(candidates.first))
    shape = np.repeat(pair_shape, 2 * slots)
    group = np.repeat(candidates.group, 2 * slots)
    size = np.tile(np.repeat([0, 1], slots), len(pair_shape))
    slot = np.tile(np.arange(slots), 2 * len(pair_shape))
    fits = (asks.chunk[shape, size] <= groups.free[group, slot]).all(axis=1)
    fits &= asks.number[shape, size] > 0
    shape, group, size, slot = shape[fits], group[fits], size[fits], slot[fits]
    count = np.diff(groups.first)[group]
    most = np.minimum(count, asks.number[shape, size])
    # A gang is dropped from a slot in which its candidates cannot hold all of it.
    number = len(asks.kinds)
    key = (shape * 2 + size) * slots + slot
    enough = np.bincount(key, most, number * 2 * slots).reshape(number, 2, slots)
    able: NDArray[np.bool_] = np.logical_and(*(enough >= asks.number[:, :, None]).swapaxes(0, 1))
    whole = able[shape, slot]
    shape, group, size, slot = shape[whole], group[whole], size[whole], slot[whole]
    count, most = count[whole], most[whole]
    job = np.searchsorted(asks.shape_of, shape, side="right") - 1
    gang = asks.number[shape].sum(axis=1) > 1
    cost = np.where(gang, 0, asks.points[job, slot] - np.where(slot == 0, asks.penalty[shape], 0))
    told = np.column_stack([job, shape, size, group, slot, most])
    warm = np.zeros(len(shape))
    greedy = {tuple(row[:5]): row[5] for row in rows.tolist()}
    for index, row in enumerate(told[:, :5].tolist()):
        warm[index] = greedy.get(tuple(row), 0)
    column = sheet.add_columns(cost.astype(np.float64), most.astype(np.float64), warm)
    return ChunkColumns(column, job, shape, size, group, slot, most, gang, count == 1), told


def _capacity(sheet: ProgramBuilder, reduced: Reduced, chunks: ChunkColumns) -> None:
    """At every slot what runs fits: GPUs, CPUs and memory of shared nodes, else whole nodes."""
    asks, groups, _ = reduced
    number = len(groups.kind)
    last = asks.last[chunks.shape, chunks.slot]
    for slot in range(groups.free.shape[1]):
        runs = (chunks.slot <= slot) & (last >= slot)
        for what in range(3):
            here = runs & chunks.shared
            asked = asks.chunk[chunks.shape[here], chunks.size[here], what]
            _limit(sheet, chunks, here, asked, groups.free[:, slot, what])
        here = runs & ~chunks.shared
        _limit(sheet, chunks, here, np.ones(here.sum(), np.int64), np.diff(groups.first)[:number])


def _limit(
    sheet: ProgramBuilder, chunks: ChunkColumns, here: NDArray[np.bool_], asked: Ints, high: Ints
) -> None:
    """One row per group, where all that may come could be too much."""
    group = chunks.group[here]
    all_of_it = np.bincount(group, asked * chunks.most[here], len(high))
    binds = all_of_it > high
    kept = binds[group]
    row = np.cumsum(binds) - 1
    sheet.add_rows(high[binds], (row[group[kept]], chunks.column[here][kept], asked[kept]))


def _gangs_and_once(
    sheet: ProgramBuilder, reduced: Reduced, chunks: ChunkColumns, rows: Ints
) -> None:
    """A job starts once at most; a gang starts whole, each chunk on a node of its own."""
    asks, groups, _ = reduced
    slots = groups.free.shape[1]
    gang = chunks.gang
    key, of_gang = np.unique(chunks.shape[gang] * slots + chunks.slot[gang], return_inverse=True)
    shape, slot = key // slots, key % slots
    job = np.searchsorted(asks.shape_of, shape, side="right") - 1
    now = slot == 0
    chosen = np.isin(key, rows[:, 1] * slots + rows[:, 4])
    start = sheet.add_columns(
        (asks.points[job, slot] + now * (EXTRA_SWITCH - asks.penalty[shape])).astype(np.float64),
        np.ones(len(key)),
        chosen.astype(np.float64),
    )
    sheet.add_rows(
        np.ones(len(asks.points)),
        (chunks.job[~gang], chunks.column[~gang], np.ones((~gang).sum())),
        (job, start, np.ones(len(job))),
    )
    for size in range(2):
        of_size = chunks.size[gang] == size
        column = chunks.column[gang][of_size]
        sheet.add_rows(
            np.zeros(len(key)),
            (of_gang[of_size], column, np.ones(len(column))),
            (np.arange(len(key)), start, -asks.number[shape, size]),
            equal=True,
        )
    place, of_place = np.unique(
        of_gang * len(groups.kind) + chunks.group[gang], return_inverse=True
    )
    leader = place // max(1, len(groups.kind))
    count = np.diff(groups.first)[place % max(1, len(groups.kind))]
    together = np.minimum(count, asks.number[shape[leader]].sum(axis=1))
    sheet.add_rows(
        np.zeros(len(place)),
        (of_place, chunks.column[gang], np.ones(gang.sum())),
        (np.arange(len(place)), start[leader], -together),
    )
