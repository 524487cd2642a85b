"""The greedy's state as tables of rows behind one record.

As named tuples of arrays the same kernels took 80 µs for one order of 16 jobs, since every call
counts references to every array; as rows behind one pointer 5 µs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dovetail.compiled.tables import Row, new_table, row_accessor
from dovetail.policies.optimiser.reduced_problem import Reduced


class GreedyTables(Row):
    """Numbers of rows, and the address of every table."""

    job_count: int
    slot_count: int
    reference_count: int
    placed_count: int  # rows of `placed` in use
    jobs: int  # [jobs] Job
    worths: int  # [jobs * slots] Worth
    shapes: int  # [shapes] ShapeRow
    chunks: int  # [shapes * 2] ChunkRow: large, small
    spans: int  # [shapes * slots] Span
    choices: int  # [candidates] Choice
    groups: int  # [groups] Group
    moments: int  # [groups * slots] GroupInSlot
    references: int  # [references] Wanted
    placed: int  # [rows] Placed


class Job(Row):
    first: int  # its shapes
    last: int


class Worth(Row):
    points: int


class ShapeRow(Row):
    first: int  # its candidates
    last: int
    penalty: int
    nodes: int


class ChunkRow(Row):
    gpus: int
    cpus: int
    memory: int
    number: int


class Span(Row):
    last: int  # slot in which a start in this slot still holds its nodes


class Choice(Row):
    group: int


class Group(Row):
    count: int
    kind: int
    switch: int
    waste: int  # points lost to stranded GPUs on a node of it, after the starts of now if shared


class GroupInSlot(Row):
    """A group in a slot: what is left of its node if shared, else of each node that is not busy."""

    gpus: int
    cpus: int
    memory: int
    busy: int


class Wanted(Row):
    gpus: int
    cpus: int
    memory: int
    kinds: int
    rate: int


class Placed(Row):
    """Chunks of one size (0 large, 1 small) of a job that start in a group in a slot."""

    job: int
    shape: int
    size: int
    group: int
    slot: int
    chunks: int


job_row = row_accessor(GreedyTables, "jobs", Job)
worth_row = row_accessor(GreedyTables, "worths", Worth)
shape_row = row_accessor(GreedyTables, "shapes", ShapeRow)
chunk_row = row_accessor(GreedyTables, "chunks", ChunkRow)
span_row = row_accessor(GreedyTables, "spans", Span)
choice_row = row_accessor(GreedyTables, "choices", Choice)
group_row = row_accessor(GreedyTables, "groups", Group)
moment_row = row_accessor(GreedyTables, "moments", GroupInSlot)
wanted_row = row_accessor(GreedyTables, "references", Wanted)
placed_row = row_accessor(GreedyTables, "placed", Placed)


class Board:
    """A world with nothing placed, and the tables that keep its addresses valid."""

    def __init__(self, reduced: Reduced) -> None:
        asks, groups, candidates = reduced
        slots = groups.free.shape[1]
        first = candidates.first
        numbered = np.concatenate([asks.chunk, asks.number[:, :, None]], axis=2)
        moments = np.zeros((len(groups.kind), slots, 4), np.int64)
        moments[:, :, :3] = groups.free
        self.tables = {
            "jobs": _table(Job, asks.shape_of[:-1], asks.shape_of[1:]),
            "worths": _table(Worth, asks.points),
            "shapes": _table(
                ShapeRow, first[:-1], first[1:], asks.penalty, asks.number.sum(axis=1)
            ),
            "chunks": _table(ChunkRow, numbered),
            "spans": _table(Span, asks.last),
            "choices": _table(Choice, candidates.group),
            "groups": _table(
                Group, np.diff(groups.first), groups.kind, groups.switch, candidates.waste
            ),
            "moments": _table(GroupInSlot, moments),
            "references": _table(Wanted, *asks.wanted.T, asks.wanted_kinds, asks.rate),
            "placed": new_table(Placed, 2 * len(candidates.group)),
        }
        self.world = new_table(GreedyTables, 1)
        self.world["job_count"], self.world["slot_count"] = len(asks.points), slots
        self.world["reference_count"] = len(asks.rate)
        for name, table in self.tables.items():
            self.world[name] = table.ctypes.data


def _table(row: type[Row], *columns: NDArray[np.int64]) -> NDArray[Any]:
    """Rows of whole numbers from columns, or from one array whose last axis is a row."""
    words = np.column_stack(columns) if len(columns) > 1 else columns[0]
    if words.size == 0:
        return new_table(row, 0)
    return np.ascontiguousarray(words, np.int64).reshape(-1).view(new_table(row, 0).dtype)
