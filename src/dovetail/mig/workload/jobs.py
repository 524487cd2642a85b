"""Jobs for sliced GPUs: a trace, and beside it how long each job runs on each size of slice."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dovetail.domain.errors import TraceError
from dovetail.domain.jobs import Floats, Ints
from dovetail.domain.trace import Trace

SIZES = (1, 2, 3, 4, 7)
"""Compute slices of the instances that exist."""

COLUMNS = 8
"""Columns of the table of run times: one per number of compute slices, 0 to 7."""


@dataclass(frozen=True)
class MigWorkload:
    """A trace whose jobs may run on slices of several sizes; `trace.jobs.run` is the time on 1g.

    `trace.jobs.memory` is GPU memory: a job fits a slice that has as much.
    """

    trace: Trace
    times: Floats  # [jobs, COLUMNS] seconds on a slice of that many compute slices; inf: cannot

    def __post_init__(self) -> None:
        if self.times.shape != (len(self.trace), COLUMNS):
            raise TraceError(
                f"{self.trace.name}: run times of shape {self.times.shape}, "
                f"expected ({len(self.trace)}, {COLUMNS})"
            )
        if not np.all(self.times[:, list(SIZES)] > 0):
            raise TraceError(f"{self.trace.name}: run times on slices must be above 0 (inf: never)")

    def __len__(self) -> int:
        return len(self.trace)

    @property
    def deadline(self) -> Floats:
        """Seconds; inf where a job has none."""
        given = self.trace.jobs.deadline
        return np.where(np.isnan(given), np.inf, given)

    def sublinearity(self) -> Ints:
        """[jobs] 1: gains much from the largest slice … 4: as fast on the smallest.

        A job is of the first class whose size has less than 0.8 of the speed on 7g: 4g, 2g, 1g.
        """
        relative = self.times[:, [7]] / self.times[:, [4, 2, 1]]
        slow = np.column_stack([relative < 0.8, np.ones(len(self), np.bool_)])
        classes: Ints = np.argmax(slow, axis=1).astype(np.int64) + 1
        return classes


def times_table(by_size: Floats) -> Floats:
    """Times on 1g, 2g, 3g, 4g and 7g [jobs, 5] as a table with a column per slice count."""
    table = np.full((len(by_size), COLUMNS), np.inf)
    table[:, list(SIZES)] = by_size
    return table
