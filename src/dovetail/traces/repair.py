"""Repairs that an import may make when asked to: each has a name, is counted and noted."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import polars as pl

from dovetail.domain.registry import Registry
from dovetail.traces.checks import MENDS, ROW_RULES, bad_rows, numbers_of, repeated, unsorted
from dovetail.traces.table import RawTable

Repair = Callable[[RawTable], None]


def clamp(table: RawTable) -> None:
    """Put the nearest sensible value where a number is out of range."""
    for rule in ROW_RULES:
        mend, columns = MENDS.get(rule.problem), numbers_of(table.frame)
        if mend is None or not rule.reads(columns):
            continue
        bad, column = rule.bad(columns), rule.columns[0]
        table.note(
            int(bad.sum()),
            f"job {rule.problem}: repaired by clamp ({mend.words})",
            f"rows where a job {rule.problem}: repaired by clamp ({mend.words})",
        )
        if bad.any():
            mended = np.where(bad, mend.value(columns[column]), columns[column])
            table.frame = table.frame.with_columns(pl.Series(column, mended).fill_nan(None))


def drop(table: RawTable) -> None:
    """Skip rows that cannot be used."""
    found = bad_rows(table)
    if found is not None:
        first = f"the first in {table.unit} {found.line}: {found.problem}"
        table.note(
            found.count,
            f"bad row: skipped by drop ({first})",
            f"bad rows: skipped by drop ({first})",
        )
        table.frame = table.frame.filter(~found.rows)


def dedupe(table: RawTable) -> None:
    """Keep the first row of each job id."""
    found = repeated(table)
    if found is not None:
        table.note(
            found.count,
            "row with an id used before: removed by dedupe",
            "rows with an id used before: removed by dedupe",
        )
        table.frame = table.frame.filter(~found.rows)


def sort(table: RawTable) -> None:
    """Sort by submit time; rows of the same time keep their order."""
    found = unsorted(table)
    if found is not None:
        table.note(
            found.count,
            "row was submitted before its predecessor: rows sorted by submit time",
            "rows were submitted before their predecessor: rows sorted by submit time",
        )
        table.frame = table.frame.sort("submit", maintain_order=True)


_IN_ORDER: dict[str, Repair] = {"clamp": clamp, "drop": drop, "dedupe": dedupe, "sort": sort}


def everything(table: RawTable) -> None:
    """All repairs: mend what can be mended first, so that fewer rows are dropped."""
    for repair in _IN_ORDER.values():
        repair(table)


REPAIRS: Registry[Repair] = Registry("repair", {**_IN_ORDER, "all": everything})


def repair_table(table: RawTable, names: Iterable[str]) -> None:
    """Make these repairs, in the order in which they help each other."""
    wanted = {REPAIRS[name] for name in (*names, *table.always)}
    for repair in REPAIRS.values():
        if repair in wanted:
            repair(table)
