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

FINEST = frozenset({"array", "submit_line", "work_dir"})
"""Columns that say nearly all by themselves: their levels come first."""


def levels_of(jobs: Jobs) -> tuple[list[tuple[str, ...]], Ints]:
    """The levels that this trace can tell, and each job's group at every one of them.

    Columns of which the trace knows nothing are left out, and then levels that say the same, so
    that what is not known costs nothing. Groups are numbered through all levels; -1: in none,
    as a job that is no array task.
    """
    told = {name for level in SIMILAR for name in level if knows(jobs, name)}
    owner = "user" if "user" in told else "partition"
    named = (tuple(owner if name == "user" else name for name in level) for level in SIMILAR)
    kept = [tuple(dict.fromkeys(name for name in level if name in told)) for level in named]
    # Of levels that say the same the last stays: one without its finest column is a coarse one.
    known = list(dict.fromkeys(reversed(kept)))[::-1]
    known.sort(key=lambda level: (FINEST.isdisjoint(level), owner not in level, -len(level)))
    groups = np.empty((len(jobs), len(known)), np.int64)
    count = 0
    for at, level in enumerate(known):
        groups[:, at] = count + number_rows([column_of(jobs, name) for name in level], len(jobs))
        count = int(groups[:, at].max()) + 1
        if level == ("array",):
            groups[jobs.array.codes == UNKNOWN, at] = -1
    return known, groups


def knows(jobs: Jobs, name: str) -> bool:
    """Whether a trace has a column at all: a value for any job."""
    column = column_of(jobs, name)
    nothing = UNKNOWN if hasattr(getattr(jobs, name), "codes") or name == "limit" else 0
    return bool(np.any(column != nothing))


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
