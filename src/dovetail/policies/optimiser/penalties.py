"""The penalties of the objective as columns and rows: switches used, GPUs stranded."""

from __future__ import annotations

import numpy as np

from dovetail.domain.jobs import Ints
from dovetail.policies.optimiser.linear_program import ChunkColumns, ProgramBuilder
from dovetail.policies.optimiser.objective import EXTRA_SWITCH
from dovetail.policies.optimiser.reduced_problem import Reduced


def charge_switches(
    sheet: ProgramBuilder, reduced: Reduced, chunks: ChunkColumns, rows: Ints
) -> None:
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


def charge_fragmentation(
    sheet: ProgramBuilder, reduced: Reduced, chunks: ChunkColumns, rows: Ints
) -> None:
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
        sheet.constant -= float(rate * wanted[0] * most.sum())
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
