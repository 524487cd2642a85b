"""A live Slurm whose slurmctld has the plug-in: factors go by a table, without any message.

Applying writes the table, reading back reads it and what Slurm shows, undoing takes rows out of it;
without rows there is no file, and every job is as Slurm alone has it. Priorities, nodes and all
questions go by Slurm's own programs. Each reading renews the table: a daemon that is gone, or that
cannot reach Slurm, leaves one that ends by itself.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from dovetail.domain.errors import ConfigError
from dovetail.live.backends.base import Backend
from dovetail.live.backends.plugin.assigned import Assigned
from dovetail.live.backends.slurm.scontrol import refusal
from dovetail.live.config import SlurmConfig
from dovetail.live.model.decision import UNDO, Change, Knob, Result
from dovetail.live.model.first_factor import FIRST
from dovetail.live.model.site import SiteSettings
from dovetail.live.model.snapshot import Factor, LiveJob, Snapshot
from dovetail.live.plugin.table import FactorTable, read_table, remove_table, write_table
from dovetail.slurm.durations import seconds_of

SLACK = 30.0
"""Seconds beyond two PriorityCalcPeriods within which a factor must show."""
USUAL_PERIOD = 300.0
"""PriorityCalcPeriod where slurm.conf does not say."""


class PluginBackend:
    """Reads through another backend; see the module."""

    name = "plugin"

    def __init__(
        self,
        inner: Backend,
        config: SlurmConfig,
        wall: Callable[[], float] = time.time,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        self._inner, self._path = inner, Path(config.plugin_table)
        self._seconds, self._default = int(config.plugin_seconds), config.plugin_default
        self._wall, self._steady = wall, steady
        self._assigned: Assigned | None = None
        self._shown: Mapping[int, Factor] = {}

    def read(self) -> Snapshot:
        snapshot = self._inner.read()
        assigned, now = self._begun(), self._steady()
        self._shown = snapshot.factors
        waiting = frozenset(n for job in snapshot.pending for n in (job.id, job.array))
        others = [job.id for job in snapshot.jobs if job.id not in waiting]
        assigned.look(waiting, others, now)
        assigned.hold(snapshot.factors)
        if assigned:
            self._write(assigned)
        factors = assigned.overlaid(snapshot.factors, now)
        return replace(snapshot, jobs=self._tagged(snapshot, assigned), factors=factors)

    def factors(self) -> Mapping[int, Factor]:
        self._shown = self._inner.factors()
        return self._begun().overlaid(self._shown, self._steady())

    def settings(self) -> Mapping[str, str]:
        return self._inner.settings()

    def site(self) -> SiteSettings:
        return self._inner.site()

    def apply(self, changes: Sequence[Change]) -> list[Result]:
        """Factors by the table, the rest in messages; one result for each, in their order."""
        assigned, now = self._begun(), self._steady()
        errors: dict[int, str] = {}
        sent: list[int] = []
        # What the plug-in would not undo, because it does not work or never knew it, Slurm does.
        deaf = assigned.stuck(self._shown, now)
        for number, change in enumerate(changes):
            known = change.knob is Knob.SITE_FACTOR and change.job in assigned
            if change.knob is not Knob.SITE_FACTOR or (_undoes(change) and (deaf or not known)):
                sent.append(number)
            if change.knob is Knob.SITE_FACTOR and (known or not _undoes(change)):
                errors[number] = refusal(change) or self._assign(change, assigned, now)
        problem = self._write(assigned) if errors else ""
        answers = self._inner.apply([changes[number] for number in sent]) if sent else []
        told = {number: error or problem for number, error in errors.items()}
        told |= {number: answer.error for number, answer in zip(sent, answers, strict=True)}
        return [Result(change, told[number]) for number, change in enumerate(changes)]

    def _assign(self, change: Change, assigned: Assigned, now: float) -> str:
        assert isinstance(change.after, int)
        if _undoes(change):
            assigned.take_back(change.job, now)
            return ""
        shown = self._shown.get(change.job)
        # Whoever sends a change knows that the job is untouched, or that what it has is ours.
        assigned.give(change.job, change.after, now, shown.site if shown else 0)
        return ""

    def _write(self, assigned: Assigned) -> str:
        """Put the table in its place, or take it away where it would say nothing."""
        try:
            if not assigned:
                remove_table(self._path)
                return ""
            rows = assigned.rows()
            table = FactorTable(rows, int(self._wall()), self._seconds, self._default)
            write_table(self._path, table)
        except (OSError, ConfigError) as problem:
            return f"the plug-in's table {self._path} cannot be written: {problem}"
        return ""

    def _begun(self) -> Assigned:
        """What the table of a daemon before us still gives is ours to change and to undo."""
        if self._assigned is None:
            self._assigned = Assigned(2 * self._period() + SLACK)
            left = read_table(self._path)
            for row in left.rows if left else ():
                self._assigned.give(row.job, row.factor, self._steady(), row.held)
        return self._assigned

    def _period(self) -> float:
        told = seconds_of(self._inner.settings().get("PriorityCalcPeriod", ""))
        return USUAL_PERIOD if math.isnan(told) else told

    def _tagged(self, snapshot: Snapshot, assigned: Assigned) -> tuple[LiveJob, ...]:
        """New jobs with the table's default are marked as job_submit.lua marks its own."""
        default = self._default
        if not default:
            return snapshot.jobs
        return tuple(
            job._replace(comment=f"{job.comment} {FIRST}{default}".strip())
            if snapshot.site_of(job.id) == default and job.id not in assigned
            and FIRST not in job.comment
            else job
            for job in snapshot.jobs
        )  # fmt: skip


def _undoes(change: Change) -> bool:
    return change.after == 0 and change.reason == UNDO
