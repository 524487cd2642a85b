"""Boosted trees whose leaves hold every output at once: quantiles, log-mean and mean.

    from dovetail.prediction.features import features_of
    from dovetail.prediction.timeline import timeline_of
    table = features_of(trace.jobs, timeline_of(trace.jobs)).table
    bins = Bins.of(table)                      # 64 bins per column
    forest = grow(bins, table, np.log(trace.jobs.run), Growth(rounds=2))
    forest.predict(table)                      # [rows, outputs] log seconds

All outputs share the structure of the trees; each round grows a tree on the gradient of one of
them, in turn, and then sets the leaves of all. One walk through a tree serves every output: 13
models in one took a thirteenth of the walks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dovetail.compiled.functions import inner, kernel
from dovetail.domain.jobs import Bools, Floats, Ints
from dovetail.prediction.distribution import LEVELS
from dovetail.prediction.features import Table
from dovetail.prediction.selection import kth_smallest

Binned = NDArray[np.uint8]

OUTPUTS = len(LEVELS) + 2
"""Quantiles at `LEVELS`, then the log-mean, then the mean (under a gamma loss)."""

LOG_MEAN, MEAN = len(LEVELS), len(LEVELS) + 1

MOST_BINS = 64

BLOCK = 256
"""Rows that are walked down one tree before the next."""


@dataclass(frozen=True, slots=True)
class Growth:
    """How a forest is grown."""

    rounds: int = 100
    depth: int = 6
    rate: float = 0.1
    least_rows: int = 20  # in a leaf
    columns: float = 0.5  # share of the columns that a tree may look at
    rows: float = 0.7  # share of the rows that it is grown on
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Bins:
    """Edges between bins of each column; NaN has bin 0."""

    edges: Table  # [columns, MOST_BINS - 2] ascending, +inf at the end

    @classmethod
    def of(cls, table: Table) -> Bins:
        edges = np.full((table.shape[1], MOST_BINS - 2), np.inf, np.float32)
        levels = np.linspace(0.0, 1.0, MOST_BINS)[1:-1]
        for at in range(table.shape[1]):
            known = table[:, at][~np.isnan(table[:, at])]
            if len(known):
                # Midpoints would need two values; "at most this" needs one.
                cuts = np.unique(np.quantile(known, levels, method="lower"))
                cuts = cuts[cuts < known.max()]
                edges[at, : len(cuts)] = cuts
        return cls(edges)

    def apply(self, table: Table) -> Binned:
        return _bin(np.ascontiguousarray(table, np.float32), self.edges)


@kernel
def _bin(table: Table, edges: Table) -> Binned:
    rows, columns = table.shape
    out = np.zeros((columns, rows), np.uint8)
    for i in range(rows):
        for j in range(columns):
            value = table[i, j]
            if not np.isnan(value):
                low, high = 0, edges.shape[1]
                while low < high:
                    middle = (low + high) >> 1
                    if edges[j, middle] < value:
                        low = middle + 1
                    else:
                        high = middle
                out[j, i] = low + 1
    return out


@dataclass(frozen=True, slots=True)
class Forest:
    """Complete binary trees as arrays; the children of node i are 2 i + 1 and 2 i + 2."""

    column: NDArray[np.int32]  # [trees, inner nodes]
    cut: Table  # [trees, inner nodes] up to this value: left; NaN: left
    leaf: Table  # [trees, leaves, outputs]
    base: Floats  # [outputs]

    def predict(self, table: Table) -> Floats:
        return walk_trees(table, self.column, self.cut, self.leaf, self.base)


@kernel
def walk_trees(
    table: Table, column: NDArray[np.int32], cut: Table, leaf: Table, base: Floats
) -> Floats:
    """[rows, outputs]"""
    out = np.empty((len(table), len(base)))
    for i in range(len(table)):
        for k in range(len(base)):
            out[i, k] = base[k]
    inner_nodes = column.shape[1]
    for first in range(0, len(table), BLOCK):
        for t in range(len(column)):  # a tree stays in the nearest cache for a block of rows
            for i in range(first, min(first + BLOCK, len(table))):
                node = 0
                while node < inner_nodes:
                    node = 2 * node + (2 if table[i, column[t, node]] > cut[t, node] else 1)
                for k in range(len(base)):
                    out[i, k] += leaf[t, node - inner_nodes, k]
    return out


def grow(bins: Bins, table: Table, logs: Floats, growth: Growth) -> Forest:
    """A forest for these rows; `logs` are logarithms of their run times."""
    base = np.concatenate([np.quantile(logs, LEVELS), [logs.mean(), np.log(np.mean(np.exp(logs)))]])
    chosen, used = _draw(growth, table)
    column, cut, leaf = _grow(
        bins.apply(table), logs, base, growth.depth, growth.rate, growth.least_rows, chosen, used,
    )  # fmt: skip
    # Bin b holds values up to edge b - 1; bin 0 is NaN alone, and the last node sends all left.
    edges = np.pad(bins.edges, ((0, 0), (1, 1)), constant_values=((0, 0), (-np.inf, np.inf)))
    return Forest(column, edges[column, cut], leaf, base)


def _draw(growth: Growth, table: Table) -> tuple[Ints, Bools]:
    """[rounds, some columns] and [rounds, rows] that each tree looks at.

    Drawn here, since a generator in a kernel takes seven seconds to compile.
    """
    random, (rows, columns) = np.random.default_rng(growth.seed), table.shape
    few = max(1, int(growth.columns * columns))
    chosen = np.empty((growth.rounds, few), np.int64)
    used = np.empty((growth.rounds, rows), np.bool_)
    for r in range(growth.rounds):
        chosen[r] = random.permutation(columns)[:few]
        used[r] = random.random(rows) < growth.rows
    return chosen, used


@kernel
def _grow(
    binned: Binned, logs: Floats, base: Floats, depth: int, rate: float, least: int,
    chosen: Ints, used: Bools,
) -> tuple[NDArray[np.int32], Ints, Table]:  # fmt: skip
    rounds, rows = used.shape
    inner_nodes, leaves = (1 << depth) - 1, 1 << depth
    column = np.zeros((rounds, inner_nodes), np.int32)
    cut = np.full((rounds, inner_nodes), MOST_BINS - 1, np.int64)  # all go left
    leaf = np.zeros((rounds, leaves, len(base)), np.float32)
    value = np.empty((rows, len(base)))
    for i in range(rows):
        for k in range(len(base)):
            value[i, k] = base[k]
    gradient = np.empty(rows)
    where = np.empty(rows, np.int64)
    for r in range(rounds):
        _gradient(logs, value, r, gradient)
        count = 0
        for i in range(rows):
            if used[r, i]:
                where[count] = i
                count += 1
        mine = where[:count].copy()
        _grow_tree(binned, gradient, mine, chosen[r], depth, least, column[r], cut[r])
        for i in range(rows):
            node = 0
            while node < inner_nodes:
                node = 2 * node + (2 if binned[column[r, node], i] > cut[r, node] else 1)
            where[i] = node - inner_nodes
        _set_leaves(logs, value, where, leaves, rate, leaf[r])
    return column, cut, leaf


@inner
def _gradient(logs: Floats, value: Floats, r: int, out: Floats) -> None:
    """Of one output in turn: the log-mean every other round, quantiles in between."""
    if r % 2 == 0:
        for i in range(len(logs)):
            out[i] = logs[i] - value[i, LOG_MEAN]
        return
    k = (r // 2 * 4 + 8) % len(LEVELS)
    for i in range(len(logs)):
        out[i] = LEVELS[k] - 1.0 if logs[i] < value[i, k] else LEVELS[k]


@inner
def _grow_tree(
    binned: Binned, gradient: Floats, used: Ints, chosen: Ints, depth: int, least: int,
    column: NDArray[np.int32], cut: Ints,
) -> None:  # fmt: skip
    """Level by level, each node where the gradient differs most."""
    mine = gradient[used]
    where = np.zeros(len(used), np.int64)  # node of each row, from 0 within its level
    for level in range(depth):
        first, count = (1 << level) - 1, 1 << level
        best = np.full(count, 1e-9)
        for j in chosen:  # column by column: the sums of one lie in the nearest cache
            sums = np.zeros((count, MOST_BINS, 2))
            for i in range(len(used)):
                cell = sums[where[i], binned[j, used[i]]]
                cell[0] += mine[i]
                cell[1] += 1.0
            for at in range(count):
                gain, b = _best_cut(sums[at], least)
                if gain > best[at]:
                    best[at] = gain
                    column[first + at], cut[first + at] = j, b
        for i in range(len(used)):
            node = first + where[i]
            where[i] = 2 * where[i] + (1 if binned[column[node], used[i]] > cut[node] else 0)


@inner
def _best_cut(sums: Floats, least: int) -> tuple[float, int]:
    """By how much a cut after a bin brings the sums of squares down, and the best such bin."""
    total, rows = sums[:, 0].sum(), sums[:, 1].sum()
    best, best_bin = 0.0, -1
    if rows < 2 * least:
        return best, best_bin
    plain = total * total / rows
    left, n = 0.0, 0.0
    for b in range(MOST_BINS - 1):
        left += sums[b, 0]
        n += sums[b, 1]
        if n >= least and rows - n >= least and sums[b, 1] > 0.0:
            right = total - left
            gain = left * left / n + right * right / (rows - n) - plain
            if gain > best:
                best, best_bin = gain, b
    return best, best_bin


@inner
def _set_leaves(
    logs: Floats, value: Floats, where: Ints, leaves: int, rate: float, leaf: Table
) -> None:
    """Each output's own best step in each leaf, shortened by the rate."""
    rows = len(logs)
    offset = np.zeros(leaves + 1, np.int64)
    for i in range(rows):
        offset[where[i] + 1] += 1
    for at in range(leaves):
        offset[at + 1] += offset[at]
    place = offset[:-1].copy()
    order = np.empty(rows, np.int64)
    for i in range(rows):
        order[place[where[i]]] = i
        place[where[i]] += 1
    scratch = np.empty(rows)
    for at in range(leaves):
        mine = order[offset[at] : offset[at + 1]]
        n = len(mine)
        if n == 0:
            continue
        left = scratch[:n]
        for k in range(len(LEVELS)):
            for i in range(n):
                left[i] = logs[mine[i]] - value[mine[i], k]
            middle = min(int(LEVELS[k] * n), n - 1)
            leaf[at, k] = rate * kth_smallest(left, middle)
        total, ratio = 0.0, 0.0
        for i in range(n):
            total += logs[mine[i]] - value[mine[i], LOG_MEAN]
            ratio += np.exp(min(logs[mine[i]] - value[mine[i], MEAN], 20.0))
        leaf[at, LOG_MEAN] = rate * total / n
        leaf[at, MEAN] = rate * np.log(max(ratio / n, 1e-6))
        for i in range(n):
            for k in range(value.shape[1]):
                value[mine[i], k] += leaf[at, k]
