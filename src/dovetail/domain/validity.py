"""What makes a job unusable: the one list, for traces in memory and for rows of a file alike.

>>> columns = {"run": np.array([60.0, -1.0, np.nan])}
>>> [rule.problem for rule in RULES if rule.reads(columns) and rule.bad(columns).any()]
['has no valid run time', 'has a negative run time']

A rule looks at whole columns, as floats with NaN where a value is unknown. What only a file can get
wrong (no id, half a GPU) is for `traces.checks`, and so are words for the value that was found.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dovetail.compiled.arrays import Bools, Floats, Ints
from dovetail.domain.jobs import TEN_YEARS

Columns = Mapping[str, Floats | Ints]


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing that makes a row bad, and what was expected of its first column."""

    problem: str
    columns: tuple[str, ...]
    broken: Callable[..., Bools]
    expected: str

    def reads(self, columns: Columns) -> bool:
        """Whether there is all that it looks at."""
        return all(name in columns for name in self.columns)

    def bad(self, columns: Columns) -> Bools:
        """The rows that it is true of."""
        with np.errstate(invalid="ignore"):
            return self.broken(*(columns[name] for name in self.columns))


def _unknown(x: Floats) -> Bools:
    return ~np.isfinite(x)


MOST = 1e12
"""CPUs, GB of memory, or seconds (thirty thousand years) beyond which a number is a mistake;
thousandths still fit."""


def _no_amount(x: Floats) -> Bools:
    return ~((x >= 0) & (x <= MOST))


def _no_date(x: Floats) -> Bools:
    return np.abs(x) > MOST  # an unknown one is not meant


_AT_MOST = f"at most ten years ({TEN_YEARS:.0f} s)"

RULES = (
    Rule("has no valid submit time", ("submit",), _unknown, "a time"),
    Rule("has a submit time beyond all calendars", ("submit",), _no_date, f"within {MOST:.0f} s"),
    Rule("has no valid run time", ("run",), _unknown, "a number of seconds"),
    Rule("has a negative run time", ("run",), lambda x: x < 0, "0 or more"),
    Rule("runs longer than ten years", ("run",), lambda x: x > TEN_YEARS, _AT_MOST),
    Rule("asks for a negative number of GPUs", ("gpus",), lambda x: x < 0, "0 or more"),
    Rule(
        "asks for neither GPUs nor CPUs",
        ("gpus", "cpus"),
        lambda gpus, cpus: (gpus == 0) & ~(cpus > 0),
        "1 or more, or a number of CPUs",
    ),
    # A run time over a limit of 1e-300 s is no number any more.
    Rule("has a time limit that is not positive", ("limit",), lambda x: x < 1e-3, "0.001 or more"),
    Rule("has a time limit beyond ten years", ("limit",), lambda x: x > TEN_YEARS, _AT_MOST),
    Rule(
        "asks for a negative number of nodes",
        ("nodes",),
        lambda x: (x < 0) | np.isinf(x),
        "0 or more",
    ),
    Rule(
        "asks for more nodes than GPUs",
        ("nodes", "gpus"),
        lambda nodes, gpus: (gpus > 0) & (nodes > gpus),
        "at most its GPUs",
    ),
    Rule("asks for a negative or unknown number of CPUs", ("cpus",), _no_amount, "0 or more"),
    Rule("asks for negative or unknown memory", ("memory",), _no_amount, "0 or more"),
    Rule(
        "has been restarted a negative number of times",
        ("restarts",),
        _no_amount,
        "0 or more",
    ),
    Rule("lets a negative number of tasks run at once", ("throttle",), _no_amount, "0 or more"),
    Rule("may run beyond all calendars", ("earliest",), _no_date, f"within {MOST:.0f} s"),
    Rule("has no valid priority", ("priority",), _unknown, "a finite number"),
)


def unsorted_rows(submit: Floats) -> Bools:
    """Rows submitted before their predecessor."""
    rows = np.zeros(len(submit), np.bool_)
    with np.errstate(invalid="ignore"):
        rows[1:] = np.diff(submit) < 0
    return rows


def repeated_rows(ids: Sequence[str | None]) -> Bools:
    """Rows whose id an earlier row has."""
    rows = np.zeros(len(ids), np.bool_)
    if len(set(ids)) < len(ids):  # a tenth of the time of looking for them
        seen: set[str | None] = set()
        for row, name in enumerate(ids):
            rows[row] = name in seen
            seen.add(name)
    return rows
