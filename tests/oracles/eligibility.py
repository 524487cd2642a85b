"""When a job may run that waits for others, asked anew each time (semantics, eligibility)."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from tests.oracles.shapes import Job

NEVER = math.inf


class Eligibility:
    """Who has started and ended, and who waits for that."""

    def __init__(self, jobs: Sequence[Job]) -> None:
        self.jobs = jobs
        self.started: dict[int, float] = {}
        self.ended: dict[int, float] = {}
        self.terms = {job.row: self._terms(job) for job in jobs}

    def _terms(self, job: Job) -> list[tuple[str, int, float]]:
        """What has to come to pass of which row, and how much longer it takes then."""
        found = []
        for part in re.split("[,?]", job.dependency or ""):
            event, *names = part.split(":")
            for name in names:
                ident, _, minutes = name.partition("+")
                delay = 0.0 if "?" in str(job.dependency) else 60.0 * float(minutes or 0)
                if event == "aftercorr":
                    ident = f"{ident}_{job.id.rpartition('_')[2]}"
                rows = [other.row for other in self.jobs if other.id == ident] or [
                    other.row for other in self.jobs if other.array == ident
                ]
                found += [
                    ("start" if event == "after" else "end", row, delay)
                    for row in rows
                    if row != job.row
                ]
            if event == "singleton":
                found += [
                    ("end", other.row, 0.0)
                    for other in self.jobs[: job.row]
                    if (other.user, other.name) == (job.user, job.name)
                ]
        return sorted(set(found))

    def is_held(self, row: int) -> bool:
        return bool(self.terms[row]) or self._ends_needed(row) > 0

    def time(self, row: int) -> float:
        """When the job may run, as far as that is known."""
        job = self.jobs[row]
        if not self.is_held(row):
            return job.submit
        moments = [
            (self.started if event == "start" else self.ended).get(other, NEVER) + delay
            for event, other, delay in self.terms[row]
        ]
        met = job.submit if math.isnan(job.earliest) else job.earliest
        if moments:
            met = max(met, min(moments) if "?" in str(job.dependency) else max(moments))
        needed = self._ends_needed(row)
        if needed > 0:
            ends = sorted(
                self.ended[task.row] for task in self._tasks(job) if task.row in self.ended
            )
            met = max(met, ends[needed - 1] if len(ends) >= needed else NEVER)
        return met

    def _tasks(self, job: Job) -> list[Job]:
        return [other for other in self.jobs if job.array and other.array == job.array]

    def _ends_needed(self, row: int) -> int:
        """Tasks of the job's array that have to end before it may run."""
        tasks = self._tasks(self.jobs[row])
        most = max((task.throttle for task in tasks), default=0)
        return [task.row for task in tasks].index(row) + 1 - most if most else 0
