"""The factors that the table gives, and what Slurm will show of them once it has read it.

>>> given = Assigned(patience=150.0)
>>> given.give(17, 120, now=0.0)
>>> given.expected(17, shown=0, now=60.0), given.expected(17, shown=4000, now=60.0)
(120, 4000)

slurmctld reads the table at once, and counts it in once in a PriorityCalcPeriod. Until then jobs
show what they had; a plan that took this for the truth would be sent again in every cycle. A value
that is neither 0 nor ever given here is an operator's, and after two periods whatever stands there
is the truth: then the plug-in does not work, and the daemon must see it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from dovetail.live.model.snapshot import Factor
from dovetail.live.plugin.table import FactorRow

FORGOTTEN = 3600.0
"""Seconds after which a job that Slurm shows no more loses its row."""


@dataclass(slots=True)
class Assignment:
    """What one job was given."""

    factor: int
    since: float  # steady seconds
    seen: float  # when Slurm last showed it waiting
    held: int = 0  # what it has of us by the last reading
    before: set[int] = field(default_factory=set)  # other values that it was given


class Assigned:
    """All of them, by LiveJob.id; those that were taken back, too, until Slurm shows it."""

    def __init__(self, patience: float) -> None:
        self.patience = patience
        self._given: dict[int, Assignment] = {}
        self._taken: dict[int, Assignment] = {}

    def __len__(self) -> int:
        return len(self._given)

    def __contains__(self, job: int) -> bool:
        return job in self._given

    def rows(self) -> list[FactorRow]:
        return [FactorRow(job, each.factor, each.held) for job, each in self._given.items()]

    def give(self, job: int, factor: int, now: float, held: int = 0) -> None:
        """A row from now on; held: what the job has, which the caller knows to be ours."""
        old = self._given.get(job) or self._taken.pop(job, None)
        before = {held} if old is None else old.before | {old.factor, held}
        self._given[job] = Assignment(factor, now, now, held, before)

    def take_back(self, job: int, now: float) -> None:
        """No row from now on: the plug-in sets the job to 0."""
        old = self._given.pop(job)
        self._taken[job] = Assignment(0, now, now, before=old.before | {old.factor})

    def look(self, waiting: frozenset[int], others: Iterable[int], now: float) -> None:
        """Rows of jobs that wait no more go; of those that Slurm does not show, in an hour."""
        for job in waiting & self._given.keys():
            self._given[job].seen = now
        for job in self._given.keys() & set(others):
            del self._given[job]
        for job, each in [*self._given.items()]:
            if now - each.seen > FORGOTTEN:
                del self._given[job]
        for job, each in [*self._taken.items()]:
            if now - each.since > self.patience:
                del self._taken[job]

    def hold(self, factors: Mapping[int, Factor]) -> None:
        """Note what jobs have of us: by this the plug-in knows that it may change it."""
        for job, each in self._given.items():
            shown = factors.get(job)
            if shown is not None and shown.site in each.before:
                each.held = shown.site

    def expected(self, job: int, shown: int, now: float) -> int:
        """What the job will have at the next update, by what Slurm shows now."""
        each = self._given.get(job) or self._taken.get(job)
        if each is None or now - each.since > self.patience:
            return shown
        return each.factor if shown == 0 or shown in each.before else shown

    def stuck(self, factors: Mapping[int, Factor], now: float) -> bool:
        """Whether slurmctld had time for a row and did not take it: the plug-in does not work."""
        for job, each in self._given.items():
            factor = factors.get(job)
            if factor is None or factor.frozen or now - each.since <= self.patience:
                continue
            if factor.site != each.factor and (factor.site == 0 or factor.site in each.before):
                return True
        return False

    def overlaid(self, factors: Mapping[int, Factor], now: float) -> dict[int, Factor]:
        """Factors as they will be; those of jobs that were not given any stay as they are."""
        found = dict(factors)
        for job in (*self._given, *self._taken):
            factor = found.get(job)
            if factor is None or factor.frozen:
                continue
            site = self.expected(job, factor.site, now)
            if site != factor.site:
                priority = max(1, factor.priority - factor.site + site)
                found[job] = factor._replace(priority=priority, site=site)
        return found
