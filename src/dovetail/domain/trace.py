"""A trace: jobs that passed every check, with where they came from."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, fields, replace

import numpy as np

from dovetail.domain.errors import TraceError
from dovetail.domain.jobs import TEN_YEARS, UNKNOWN, Bools, Ints, Jobs, Names

ADDED = ("name", "account", "work_dir", "submit_line", "array", "restarts")
"""Columns that traces did not have at first: while they say nothing, digests are as they were."""


@dataclass(frozen=True, slots=True)
class Trace:
    """Jobs in order of submission, checked on construction.

    `notes` says in words what was done to the source: rows dropped, values repaired.
    """

    jobs: Jobs
    name: str = "trace"
    notes: tuple[str, ...] = field(default=())

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
        """Consecutive jobs as a trace of their own; submit times keep their origin."""
        return replace(
            self, jobs=self.jobs.take(slice(start, stop)), name=f"{self.name}[{start}:{stop}]"
        )

    def digest(self) -> str:
        """A hash of every column: the same jobs give the same digest on every machine."""
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
    """Each thing that makes a row unusable, in words, with the rows that it is true of.

    The one list of what is checked: importers report or repair these, `Trace` refuses them.
    """
    with np.errstate(invalid="ignore"):
        unsorted = np.zeros(len(jobs), np.bool_)
        unsorted[1:] = np.diff(jobs.submit) < 0
        return {
            "has no valid submit time": ~np.isfinite(jobs.submit),
            "has no valid run time": ~np.isfinite(jobs.run),
            "has a negative run time": jobs.run < 0,
            "runs longer than ten years": jobs.run > TEN_YEARS,
            "asks for no GPU": jobs.gpus <= 0,
            "has a time limit that is not positive": jobs.limit <= 0,
            "has a time limit beyond ten years": jobs.limit > TEN_YEARS,
            "asks for a negative number of nodes": jobs.nodes < 0,
            "asks for more nodes than GPUs": jobs.nodes > np.maximum(jobs.gpus, 1),
            "asks for a negative or unknown number of CPUs": ~(jobs.cpus >= 0)
            | np.isinf(jobs.cpus),
            "asks for negative or unknown memory": ~(jobs.memory >= 0) | np.isinf(jobs.memory),
            "has no valid priority": ~np.isfinite(jobs.priority),
            "is submitted before its predecessor": unsorted,
            "has been restarted a negative number of times": jobs.restarts < 0,
            "has an id used before": _repeated(jobs),
        }


def _says_nothing(column: Names | Ints) -> bool:
    if isinstance(column, Names):
        return not column.values and not np.any(column.codes != UNKNOWN)
    return not np.any(column)


def _repeated(jobs: Jobs) -> Bools:
    """True for every row whose id an earlier row has."""
    if len(set(jobs.ids.tolist())) == len(jobs):  # a quarter of the time of looking for them
        return np.zeros(len(jobs), np.bool_)
    repeated = np.ones(len(jobs), np.bool_)
    _, first = np.unique(jobs.ids, return_index=True)
    repeated[first] = False
    return repeated
