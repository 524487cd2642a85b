"""The rules that a row must keep, with what the file calls the value and what was expected.

They are `domain.trace.problems` said about a file: same rules, but with line, column and value.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import polars as pl

from dovetail.domain.jobs import TEN_YEARS
from dovetail.traces.table import RawTable

MAX_GPUS = 1_000_000
"""More than any cluster has; a job that asks for more is a broken record."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing that makes a row bad; `mend` is the value that repair `clamp` puts there."""

    problem: str  # as the domain says it
    column: str
    bad: Callable[[pl.Expr], pl.Expr]
    expected: str
    mend: float | Callable[[pl.Expr], pl.Expr] | None = None
    mended: str = ""  # empty: no sensible value to put there

    def rows(self) -> pl.Expr:
        return self.bad(pl.col(self.column)).fill_null(value=False)


def _unknown(x: pl.Expr) -> pl.Expr:
    return x.is_null() | ~x.is_finite()


def _negative(x: pl.Expr) -> pl.Expr:
    return x < 0


def _no_amount(x: pl.Expr) -> pl.Expr:
    return (x < 0) | x.is_infinite()


RULES = (
    Rule("has no id", "id", lambda x: x.is_null(), "a name or number"),
    Rule("has no valid submit time", "submit", _unknown, "a time"),
    Rule("has no valid run time", "run", _unknown, "a number of seconds"),
    Rule("has a negative run time", "run", _negative, "0 or more", 0.0, "set it to 0"),
    Rule(
        "runs longer than ten years",
        "run",
        lambda x: x > TEN_YEARS,
        f"at most ten years ({TEN_YEARS:.0f} s)",
        TEN_YEARS,
        "cut it to ten years",
    ),
    Rule("asks for no GPU", "gpus", _negative, "0 or more"),
    Rule("asks for no known number of GPUs", "gpus", _unknown, "a whole number"),
    Rule("asks for too many GPUs", "gpus", lambda x: x > MAX_GPUS, f"at most {MAX_GPUS}"),
    Rule(
        "asks for a part of a GPU",
        "gpus",
        lambda x: x.is_finite() & (x != x.floor()),
        "a whole number",
        lambda x: x.ceil(),
        "round it up",
    ),
    Rule(
        "has a time limit that is not positive",
        "limit",
        lambda x: x <= 0,
        "above 0",
        None,
        "take it as unknown",
    ),
    Rule(
        "has a time limit beyond ten years",
        "limit",
        lambda x: x > TEN_YEARS,
        f"at most ten years ({TEN_YEARS:.0f} s)",
        TEN_YEARS,
        "cut it to ten years",
    ),
    Rule(
        "asks for a negative number of nodes",
        "nodes",
        lambda x: (x < 0) | x.is_infinite(),
        "0 or more",
        0.0,
        "take it as unknown",
    ),
    Rule(
        "asks for more nodes than GPUs",
        "nodes",
        lambda x: x > pl.max_horizontal("gpus", 1),
        "at most its GPUs",
        0.0,
        "take it as unknown",
    ),
    Rule(
        "asks for a negative or unknown number of CPUs",
        "cpus",
        _no_amount,
        "0 or more",
        0.0,
        "take it as unknown",
    ),
    Rule(
        "asks for negative or unknown memory",
        "memory",
        _no_amount,
        "0 or more",
        0.0,
        "take it as unknown",
    ),
    Rule(
        "has been restarted a negative number of times",
        "restarts",
        _no_amount,
        "0 or more",
        0.0,
        "take it as never",
    ),
    Rule(
        "has no valid priority",
        "priority",
        lambda x: x.is_infinite(),
        "a finite number",
        0.0,
        "set it to 0",
    ),
)


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
    rules = [rule for rule in RULES if rule.column in table.frame.columns]
    broken = table.frame.select(
        pl.col("line").is_in(table.faults["line"].implode()).alias("cell"),
        *(rule.rows().alias(str(number)) for number, rule in enumerate(rules)),
    )
    rows = broken.select(pl.any_horizontal(pl.all())).to_series()
    if not rows.any():
        return None
    first = rows.arg_max() or 0
    line = int(table.frame["line"][first])
    if broken["cell"][first]:
        problem = str(table.faults.filter(pl.col("line") == line)["problem"][0])
        return BadRows(rows, line, problem, _DROP)
    rule = next(rule for number, rule in enumerate(rules) if broken[str(number)][first])
    value = show(table.frame[rule.column][first])
    problem = f"{table.label(rule.column)} is {value}, expected {rule.expected}"
    mend = f"use --repair clamp to {rule.mended}, or " if rule.mended else "use "
    return BadRows(rows, line, problem, mend + _DROP.removeprefix("use "))


def repeated(table: RawTable) -> BadRows | None:
    """Rows whose id an earlier row has."""
    ids = table.frame["id"]
    rows = ~ids.is_first_distinct() & ids.is_not_null()  # no id: another rule's business
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
    rows = (submit < submit.shift(1)).fill_null(value=False)
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
