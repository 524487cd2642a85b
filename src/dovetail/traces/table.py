"""What a format hands over: rows in canonical columns, not yet checked, with notes in words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import nan
from pathlib import Path

import polars as pl

from dovetail.domain.errors import BadRow

Progress = Callable[[float, str], None]
"""Called with the fraction done and what is being done."""

NUMBERS = {
    "submit": nan,
    "run": nan,
    "gpus": nan,
    "limit": nan,
    "nodes": 0.0,
    "cpus": 0.0,
    "memory": 0.0,
    "priority": 0.0,
    "deadline": nan,
    "recorded_start": nan,
    "restarts": 0.0,
    "earliest": nan,
    "throttle": 0.0,
}
"""Columns of numbers, with what each is where a file knows nothing."""

FLAGS = ("exempt", "exclusive")
"""Columns of yes and no; no where a file knows nothing."""

NAMES = (
    "gpu_type",
    "partition",
    "user",
    "qos",
    "kind",
    "mig",
    "name",
    "account",
    "work_dir",
    "submit_line",
    "array",
    "constraint",
    "dependency",
    "licenses",
    "nodelist",
    "exclude",
    "reservation",
)
FAULTS = {"line": pl.Int64, "problem": pl.String}


@dataclass(slots=True)
class RawTable:
    """Rows of one file: `line`, `id`, `submit`, `run`, `gpus` and what else the file knows.

    Numbers are Float64 with null where unknown, times are seconds. Helper columns may stand
    beside the canonical ones.
    """

    file: str
    frame: pl.DataFrame
    labels: dict[str, str]  # canonical column -> what the file calls it
    faults: pl.DataFrame  # line, problem: cells that could not be read
    unit: str = "line"  # what `line` counts: lines, rows or records
    origin: Callable[[float], str] | None = None  # words for time 0; None: times stay as they are
    always: tuple[str, ...] = ()  # repairs that this format's published files need
    notes: list[str] = field(default_factory=list)
    name: str | None = None  # given by the file itself
    first: float = 0.0  # what time 0 was before times were counted from the first submission

    def leave_out(self, which: pl.Expr, one: str, many: str) -> None:
        """Remove rows that are no jobs to schedule, and say how many."""
        keep = self.frame.select(~which.fill_null(value=False)).to_series()
        self.note(len(keep) - int(keep.sum()), f"{one}: left out", f"{many}: left out")
        self.frame = self.frame.filter(keep)

    def note(self, count: int, one: str, many: str) -> None:
        """Add a counted note, unless there is nothing to count."""
        if count:
            self.notes.append(f"1 {one}" if count == 1 else f"{count:,} {many}")

    def count(self, which: pl.Expr) -> int:
        """Rows that the expression is true of."""
        return int(self.frame.select(which.fill_null(value=False).sum()).item())

    def label(self, column: str) -> str:
        """What the file calls a column."""
        return self.labels.get(column, column)

    def bad_row(self, line: int, problem: str) -> BadRow:
        """The error for one row of this table."""
        error = BadRow(self.file, line, problem)
        error.args = (f"{self.file} {self.unit} {line}: {problem}",)
        return error


@dataclass(frozen=True, slots=True)
class Format:
    """One trace format: how to know its files, and how to read them."""

    name: str
    about: str
    sniff: Callable[[Path, bytes], bool]  # the path, and the first bytes of the file
    read: Callable[[Path, Progress], RawTable]
    cpu_jobs: bool = False  # jobs without GPUs are kept: the file tells what else they ask for


def silent(fraction: float, text: str) -> None:
    """Progress that nobody watches."""


def calendar(words: str) -> Callable[[float], str]:
    """Says what time 0 is when a trace has dates."""

    def say(origin: float) -> str:
        try:
            date = str(datetime.fromtimestamp(origin, UTC).replace(tzinfo=None))
        except (OverflowError, OSError, ValueError):  # before the year 1 or after 9999
            date = "beyond the calendar"
        return f"time 0 is {date} ({words}; epoch {origin:.0f} s), when the first job was submitted"

    return say


def own_clock(origin: float) -> str:
    """Says what time 0 is when a trace counts seconds from an origin that it does not tell."""
    return f"time 0 is {origin:.0f} s on the trace's own clock, when the first job was submitted"
