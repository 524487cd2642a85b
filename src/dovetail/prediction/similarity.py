"""Which jobs are alike: groups of equal user, name, size, limit ..., from fine to coarse."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dovetail.domain.jobs import UNKNOWN, Ints, Jobs

SIMILAR: tuple[tuple[str, ...], ...] = (
    ("array",),
    ("user", "submit_line"),
    ("user", "name", "partition", "gpus", "kind", "limit", "cpus", "memory"),
    ("user", "work_dir"),
    ("user", "name", "gpus"),
    ("user", "name"),
    ("user", "gpus", "limit"),
    ("user", "gpus"),
    ("user",),
    ("account",),
    ("name",),
    ("partition", "gpus", "kind", "limit"),
    ("gpus", "kind"),
    (),
)
"""Columns that are equal within a group, one line per level."""


def levels_of(jobs: Jobs) -> tuple[list[tuple[str, ...]], Ints]:
    """The levels that tell jobs of this trace apart, and each job's group at every one of them.

    A level that groups the jobs as another one does is left out, so that what a trace does not
    know costs nothing. Groups are numbered through all levels; -1: in none, as no array task.
    """
    owner = "user" if np.any(jobs.user.codes != UNKNOWN) else "partition"
    known: list[tuple[str, ...]] = []
    columns: list[Ints] = []
    count = 0
    for level in SIMILAR:
        names = tuple(dict.fromkeys(owner if name == "user" else name for name in level))
        numbers = number_rows([column_of(jobs, name) for name in names], len(jobs))
        if level == ("array",):
            numbers = np.where(jobs.array.codes == UNKNOWN, -1, numbers)
            if not np.any(numbers >= 0):
                continue
        if any(_same(numbers, other) for other in columns):
            continue
        known.append(names)
        columns.append(numbers)
    numbered = []
    for numbers in columns:
        numbered.append(np.where(numbers >= 0, numbers + count, -1))
        count += int(numbers.max()) + 1
    return known, np.ascontiguousarray(np.column_stack(numbered))


def column_of(jobs: Jobs, name: str) -> Any:
    """A column as numbers that can be compared."""
    column = getattr(jobs, name)
    if hasattr(column, "codes"):
        return column.codes
    return np.where(np.isnan(column), -1.0, column) if column.dtype.kind == "f" else column


def number_rows(columns: Sequence[Any], count: int) -> Ints:
    """Equal rows get equal numbers, from 0 in order of first appearance."""
    number = np.zeros(count, np.int64)
    for column in columns:
        values, codes = np.unique(column, return_inverse=True)
        number = np.unique(number * len(values) + codes, return_inverse=True)[1]
    _, first, number = np.unique(number, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first, kind="stable")] = np.arange(len(first))
    return rank[number]


def _same(numbers: Ints, other: Ints) -> bool:
    """Both number groups by first appearance: equal groupings have equal numbers."""
    return bool(np.array_equal(numbers, other))
