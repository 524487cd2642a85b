"""The rules that a row of a file must keep, with what the file calls the value and what it held.

The rules are those of `domain.validity`, and a few about what only a file can hold.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import polars as pl

from dovetail.domain.jobs import TEN_YEARS, Floats
from dovetail.domain.validity import RULES, Rule, repeated_rows, unsorted_rows
from dovetail.traces.table import NUMBERS, RawTable

MAX_GPUS = 1_000_000
"""More than any cluster has; a job that asks for more is a broken record."""

ROW_RULES = (
    *RULES,
    Rule(
        "asks for no known number of GPUs", ("gpus",), lambda x: ~np.isfinite(x), "a whole number"
    ),
    Rule("asks for too many GPUs", ("gpus",), lambda x: x > MAX_GPUS, f"at most {MAX_GPUS}"),
    Rule(
        "asks for a part of a GPU",
        ("gpus",),
        lambda x: np.isfinite(x) & (x != np.floor(x)),
        "a whole number",
    ),
)


@dataclass(frozen=True, slots=True)
class Mend:
    """What the repair `clamp` puts in the place of a bad value."""

    words: str
    value: Callable[[Floats], Floats | float]


_UNKNOWN = Mend("take it as unknown", lambda x: 0.0)

MENDS = {
    "has a negative run time": Mend("set it to 0", lambda x: 0.0),
    "runs longer than ten years": Mend("cut it to ten years", lambda x: TEN_YEARS),
    "asks for a part of a GPU": Mend("round it up", np.ceil),
    "has a time limit that is not positive": Mend("take it as unknown", lambda x: np.nan),
    "has a time limit beyond ten years": Mend("cut it to ten years", lambda x: TEN_YEARS),
    "asks for a negative number of nodes": _UNKNOWN,
    "asks for more nodes than GPUs": _UNKNOWN,
    "asks for a negative or unknown number of CPUs": _UNKNOWN,
    "asks for negative or unknown memory": _UNKNOWN,
    "has been restarted a negative number of times": Mend("take it as never", lambda x: 0.0),
    "has no valid priority": Mend("set it to 0", lambda x: 0.0),
}
"""By the problem; others have no sensible value to put there."""


def numbers_of(frame: pl.DataFrame) -> dict[str, Floats]:
    """The numeric columns, with what each is where the file knows nothing."""
    return {
        name: frame[name].fill_nan(None).fill_null(unknown).to_numpy()
        for name, unknown in NUMBERS.items()
        if name in frame.columns
    }


@dataclass(frozen=True, slots=True)
class BadRows:
    """Which rows are bad, and the first of them in words."""

    rows: pl.Series
    line: int
    problem: str
    advice: str

    @property
    def count(self) -> int:
        return int(self.rows.sum())


def bad_rows(table: RawTable) -> BadRows | None:
    """Rows that break a rule or have a cell that could not be read; None when all are fine."""
    columns = numbers_of(table.frame)
    broken = {rule: rule.bad(columns) for rule in ROW_RULES if rule.reads(columns)}
    faulty = table.frame["line"].is_in(table.faults["line"].implode()).to_numpy()
    nameless = table.frame["id"].is_null().to_numpy()
    rows = np.logical_or.reduce([faulty, nameless, *broken.values()])
    if not rows.any():
        return None
    first = int(np.argmax(rows))
    line, found = int(table.frame["line"][first]), pl.Series(rows)
    if faulty[first]:
        problem = str(table.faults.filter(pl.col("line") == line)["problem"][0])
        return BadRows(found, line, problem, _DROP)
    if nameless[first]:
        problem = f"{table.label('id')} is missing, expected a name or number"
        return BadRows(found, line, problem, _DROP)
    rule = next(rule for rule in broken if broken[rule][first])
    column, mend = rule.columns[0], MENDS.get(rule.problem)
    value = show(table.frame[column][first])
    problem = f"{table.label(column)} is {value}, expected {rule.expected}"
    advice = f"use --repair clamp to {mend.words}, or " if mend else "use "
    return BadRows(found, line, problem, advice + _DROP.removeprefix("use "))


def repeated(table: RawTable) -> BadRows | None:
    """Rows whose id an earlier row has."""
    ids = table.frame["id"]
    rows = pl.Series(repeated_rows(ids.to_list())) & ids.is_not_null()  # no id: another rule
    if not rows.any():
        return None
    second = rows.arg_max() or 0
    name = table.frame["id"][second]
    before = table.frame.filter(pl.col("id") == name)["line"][0]
    problem = f"{table.label('id')} is {name}, already used in {table.unit} {before}"
    advice = "use --repair dedupe to keep the first row of each"
    return BadRows(rows, int(table.frame["line"][second]), problem, advice)


def unsorted(table: RawTable) -> BadRows | None:
    """Rows submitted before their predecessor."""
    submit = table.frame["submit"]
    rows = pl.Series(unsorted_rows(submit.to_numpy()))
    if not rows.any():
        return None
    row = rows.arg_max() or 0
    problem = (
        f"{table.label('submit')} is {show(submit[row])}, "
        f"earlier than {show(submit[row - 1])} of the row before"
    )
    return BadRows(
        rows, int(table.frame["line"][row]), problem, "use --repair sort to sort by submit time"
    )


def refuse(table: RawTable, found: BadRows | None) -> None:
    """Raise the first bad row as an error that says how many more there are."""
    if found is not None:
        others = found.count - 1
        more = f" (and {others:,} more bad row{'s' * (others > 1)})" if others else ""
        raise table.bad_row(found.line, f"{found.problem}{more}; {found.advice}")


def show(value: object) -> str:
    """A value as the file would write it."""
    if value is None:
        return "missing"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


_DROP = "use --repair drop to skip such rows"
