"""Repairs that an import may make when asked to: each has a name, is counted and noted."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import polars as pl

from dovetail.domain.registry import Registry
from dovetail.traces.checks import RULES, bad_rows, repeated, unsorted
from dovetail.traces.table import RawTable

Repair = Callable[[RawTable], None]


def clamp(table: RawTable) -> None:
    """Put the nearest sensible value where a number is out of range."""
    for rule in RULES:
        if not rule.mended or rule.column not in table.frame.columns:
            continue
        bad = table.count(rule.rows())
        table.note(
            bad,
            f"job {rule.problem}: repaired by clamp ({rule.mended})",
            f"rows where a job {rule.problem}: repaired by clamp ({rule.mended})",
        )
        if bad:
            value = pl.col(rule.column)
            mend = rule.mend(value) if callable(rule.mend) else pl.lit(rule.mend, pl.Float64)
            table.frame = table.frame.with_columns(
                pl.when(rule.rows()).then(mend).otherwise(value).alias(rule.column)
            )


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
