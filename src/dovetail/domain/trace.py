"""A trace: jobs that passed every check, with where they came from."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, fields

import numpy as np

from dovetail.domain.errors import TraceError
from dovetail.domain.jobs import UNKNOWN, Bools, Floats, Ints, Jobs, Names
from dovetail.domain.validity import RULES, repeated_rows, unsorted_rows

ADDED = (
    "name", "account", "work_dir", "submit_line", "array", "restarts", "exclusive", "constraint",
    "dependency", "earliest", "throttle", "licenses", "nodelist", "exclude",
    "reservation",
)  # fmt: skip
"""Columns that traces did not have at first: while they say nothing, digests are as they were."""

DRAWN = "-synthetic"
"""Ends the name of a trace that was drawn from a workload, as `synth:NAME` does."""


@dataclass(frozen=True, slots=True)
class Trace:
    """Jobs in order of submission, checked on construction.

    `notes` says in words what was done to the source: rows dropped, values repaired.
    """

    jobs: Jobs
    name: str = "trace"
    notes: tuple[str, ...] = field(default=())
    origin: float = 0.0  # of time 0, on the clock of the source: mostly seconds since 1970
    _digest: str = field(default="", init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for problem, rows in problems(self.jobs).items():
            if rows.any():
                first = int(np.argmax(rows))
                raise TraceError(
                    f"{self.name}: job {self.jobs.ids[first]} (row {first + 1}) {problem}; "
                    f"{int(rows.sum())} such rows: mend the source, or import it with --repair"
                )
        if len(self.jobs) == 0:
            raise TraceError(f"{self.name}: no jobs; nothing to schedule")

    def __len__(self) -> int:
        return len(self.jobs)

    def slice(self, start: int, stop: int) -> Trace:
        """Consecutive jobs as a trace of their own; submit times keep their origin.

        They are not checked again: what is true of all rows is true of some in their order.
        """
        jobs, name = self.jobs.take(slice(start, stop)), f"{self.name}[{start}:{stop}]"
        if len(jobs) == 0:
            raise TraceError(f"{name}: no jobs; nothing to schedule")
        part = object.__new__(Trace)
        for field_name, value in (
            ("jobs", jobs), ("name", name), ("notes", self.notes), ("origin", self.origin),
            ("_digest", ""),
        ):  # fmt: skip
            object.__setattr__(part, field_name, value)
        return part

    def digest(self) -> str:
        """A hash of every column: the same jobs give the same digest on every machine.

        Worked out once: a million jobs take half a second, and every replay asks for it.
        """
        if not self._digest:
            object.__setattr__(self, "_digest", self._hash())
        return self._digest

    def _hash(self) -> str:
        sha = hashlib.sha256()
        for item in fields(self.jobs):
            column = getattr(self.jobs, item.name)
            if item.name in ADDED and _says_nothing(column):
                continue
            sha.update(item.name.encode())
            if isinstance(column, Names):
                sha.update(column.codes.tobytes())
                sha.update("\0".join(column.values).encode())
            elif item.name == "ids":
                sha.update("\0".join(column.tolist()).encode())
            else:
                sha.update(np.ascontiguousarray(column).tobytes())
        return sha.hexdigest()[:16]


def problems(jobs: Jobs) -> dict[str, Bools]:
    """Each thing that makes a row unusable, in words, with the rows that it is true of."""
    columns = {name: getattr(jobs, name) for rule in RULES for name in rule.columns}
    return {
        **{rule.problem: rule.bad(columns) for rule in RULES},
        "is submitted before its predecessor": unsorted_rows(jobs.submit),
        "has an id used before": repeated_rows(jobs.ids.tolist()),
    }


def _says_nothing(column: Names | Ints | Bools | Floats) -> bool:
    if isinstance(column, Names):
        return not column.values and not np.any(column.codes != UNKNOWN)
    if column.dtype.kind == "f":
        return bool(np.all(np.isnan(column)))
    return not np.any(column)
