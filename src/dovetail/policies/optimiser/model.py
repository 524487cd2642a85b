"""The placement model as one integer program: columns, rows and a starting point, in arrays.

Columns: chunks of one size of a shape that start in a slot in a group (integer; 0 or 1 on a shared
node); per gang and slot whether it starts; per gang and switch whether it is used now; per shared
node and reference how often the reference still fits after the starts of now.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dovetail.domain.jobs import Floats, Ints
from dovetail.policies.optimiser.reduced import Reduced
from dovetail.policies.optimiser.objective import EXTRA_SWITCH


@dataclass(frozen=True, slots=True)
class Model:
    """Maximise cost · x with low <= rows <= high, 0 <= x <= most, x integer."""

    cost: Floats
    most: Floats
    low: Floats
    high: Floats
    start: Ints  # [rows + 1] into `column` and `coefficient`
    column: Ints
    coefficient: Floats
    chunks: Ints  # [chunk columns, 6] as `world.Placed`; the number of chunks is for the solver
    warm: Floats


@dataclass(slots=True)
class _Sheet:
    """A program that grows by blocks of columns and of rows."""

    columns: int = 0
    rows: int = 0
    cost: list[Floats] = field(default_factory=list)
    most: list[Floats] = field(default_factory=list)
    warm: list[Floats] = field(default_factory=list)
    low: list[Floats] = field(default_factory=list)
    high: list[Floats] = field(default_factory=list)
    entries: list[tuple[Ints, Ints, Floats]] = field(default_factory=list)

    def add_columns(self, cost: Floats, most: Floats, warm: Floats) -> Ints:
        first = self.columns
        self.columns += len(cost)
        self.cost.append(cost)
        self.most.append(most)
        self.warm.append(warm)
        return np.arange(first, self.columns)

    def add_rows(
        self,
        high: Floats | Ints,
        *terms: tuple[Ints, Ints, Floats | Ints],
        equal: bool = False,
    ) -> None:
        """Rows with an upper limit each; a term is (row in this block, column, coefficient)."""
        limit = np.asarray(high, np.float64)
        self.high.append(limit)
        self.low.append(limit if equal else np.full(len(limit), -np.inf))
        for row, column, coefficient in terms:
            values = np.broadcast_to(np.asarray(coefficient, np.float64), row.shape)
            self.entries.append((row + self.rows, column, values))
        self.rows += len(limit)


@dataclass(frozen=True, slots=True)
class _Chunks:
    """The chunk columns, by what they stand for."""

    column: Ints
    job: Ints
    shape: Ints
    size: Ints
    group: Ints
    slot: Ints
    most: Ints
    gang: NDArray[np.bool_]
    shared: NDArray[np.bool_]


def model_of(reduced: Reduced, rows: Ints) -> Model:
    """The program for a reduced problem, starting from the rows of a greedy filling."""
    sheet = _Sheet()
    chunks, told = _chunk_columns(sheet, reduced, rows)
    _capacity(sheet, reduced, chunks)
    _gangs_and_once(sheet, reduced, chunks, rows)
    _fragmentation(sheet, reduced, chunks, rows)
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
    )


def _chunk_columns(sheet: _Sheet, reduced: Reduced, rows: Ints) -> tuple[_Chunks, Ints]:
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
    whole = (enough >= asks.number[:, :, None]).all(axis=1)[shape, slot]
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
    return _Chunks(column, job, shape, size, group, slot, most, gang, count == 1), told


def _capacity(sheet: _Sheet, reduced: Reduced, chunks: _Chunks) -> None:
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
    sheet: _Sheet, chunks: _Chunks, here: NDArray[np.bool_], asked: Ints, high: Ints
) -> None:
    """One row per group, where all that may come could be too much."""
    group = chunks.group[here]
    all_of_it = np.bincount(group, asked * chunks.most[here], len(high))
    binds = all_of_it > high
    kept = binds[group]
    row = np.cumsum(binds) - 1
    sheet.add_rows(high[binds], (row[group[kept]], chunks.column[here][kept], asked[kept]))


def _gangs_and_once(sheet: _Sheet, reduced: Reduced, chunks: _Chunks, rows: Ints) -> None:
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
    _switches(sheet, reduced, chunks, rows)


def _switches(sheet: _Sheet, reduced: Reduced, chunks: _Chunks, rows: Ints) -> None:
    """A gang that starts now pays for each switch it uses."""
    groups = reduced.groups
    now = chunks.gang & (chunks.slot == 0)
    many = int(groups.switch.max(initial=0)) + 1
    key, of_key = np.unique(
        chunks.shape[now] * many + groups.switch[chunks.group[now]], return_inverse=True
    )
    placed = rows[rows[:, 4] == 0]
    chosen = np.isin(key, placed[:, 1] * many + groups.switch[placed[:, 3]])
    used = sheet.add_columns(
        np.full(len(key), -float(EXTRA_SWITCH)), np.ones(len(key)), chosen.astype(np.float64)
    )
    row = np.arange(now.sum())
    sheet.add_rows(
        np.zeros(len(row)),
        (row, chunks.column[now], np.ones(len(row))),
        (row, used[of_key], -chunks.most[now]),
    )


def _fragmentation(sheet: _Sheet, reduced: Reduced, chunks: _Chunks, rows: Ints) -> None:
    """Stranded GPUs: of a chunk with its node to itself a constant, of a shared node a column."""
    asks, groups, candidates = reduced
    now = chunks.slot == 0
    size = asks.chunk[chunks.shape, chunks.size]
    cost = sheet.cost[0]
    alone = now & ~chunks.shared
    for index in np.flatnonzero(alone).tolist():
        group = chunks.group[index]
        left = groups.free[group, 0] - size[index]
        cost[index] -= _waste(reduced, int(groups.kind[group]), left) - candidates.waste[group]
    here = np.flatnonzero(now & chunks.shared)
    members = np.unique(chunks.group[here])
    for reference in range(len(asks.rate)):
        wanted, rate = asks.wanted[reference], int(asks.rate[reference])
        able = (asks.wanted_kinds[reference] >> groups.kind & 1).astype(np.bool_)
        nodes = members[able[members]]
        cost[here] += rate * size[here, 0] * able[chunks.group[here]]
        asked = np.flatnonzero(wanted)
        most = (groups.free[nodes, 0][:, asked] // wanted[asked]).min(axis=1, initial=1 << 40)
        left = groups.free[:, 0].copy()
        for _, shape, kind, group, slot, _ in rows.tolist():
            if slot == 0:
                left[group] -= asks.chunk[shape, kind]
        warm = (left[nodes][:, asked] // wanted[asked]).min(axis=1, initial=1 << 40)
        fits = sheet.add_columns(
            np.full(len(nodes), float(rate * wanted[0])),
            most.astype(np.float64),
            warm.astype(np.float64),
        )
        row_of = np.full(len(groups.kind), -1)
        row_of[nodes] = np.arange(len(nodes))
        mine = here[row_of[chunks.group[here]] >= 0]
        for what in asked.tolist():
            sheet.add_rows(
                groups.free[nodes, 0, what],
                (row_of[chunks.group[mine]], chunks.column[mine], size[mine, what]),
                (np.arange(len(nodes)), fits, np.full(len(nodes), wanted[what])),
            )


def _waste(reduced: Reduced, kind: int, free: Ints) -> int:
    asks = reduced.asks
    points = 0
    for wanted, kinds, rate in zip(asks.wanted, asks.wanted_kinds, asks.rate, strict=True):
        if int(kinds) >> kind & 1:
            asked = wanted > 0
            points += int(rate) * int(free[0] - wanted[0] * (free[asked] // wanted[asked]).min())
    return points
