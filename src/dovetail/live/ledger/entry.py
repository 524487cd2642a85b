"""One value of one job that we have set, or may have set; and all of them at one moment.

>>> entry = LedgerEntry(17, Knob.SITE_FACTOR, before=0, asked=frozenset({120}), held=120)
>>> view = LedgerView({entry.key: entry})
>>> view.held(Knob.SITE_FACTOR)
{17: 120}
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from dovetail.live.model.decision import Knob, Value
from dovetail.live.model.first_factor import FIRST, first_factor
from dovetail.live.model.snapshot import LiveJob, Snapshot


class Key(NamedTuple):
    job: int
    knob: Knob


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """What must be undone, until it is known to be."""

    job: int
    knob: Knob
    before: Value  # what it was before our first change
    asked: frozenset[Value] = frozenset()  # values that we asked for; empty: not known
    held: Value = None  # what Slurm is known to have of these; None: not known
    opening: int = 0  # number of the first change in the journal; 0: closed there, but seen again
    last: int = 0  # number of the last change

    @property
    def key(self) -> Key:
        return Key(self.job, self.knob)


@dataclass(frozen=True, slots=True)
class LedgerView:
    """All entries at one moment, for code that only looks."""

    entries: Mapping[Key, LedgerEntry] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.entries)

    def knows(self, job: LiveJob, knob: Knob) -> bool:
        """Whether the job, or the array that it comes from, was touched."""
        return Key(job.id, knob) in self.entries or Key(job.array, knob) in self.entries

    def held(self, knob: Knob) -> dict[int, Value]:
        """What Slurm is known to have of us, by job."""
        return {
            entry.job: entry.held
            for entry in self.entries.values()
            if entry.knob is knob and entry.held is not None
        }

    def factors(self, snapshot: Snapshot) -> dict[int, int]:
        """Site factors by job that are ours: set by us, inherited from an array, or given first."""
        ours, found = self.held(Knob.SITE_FACTOR), {}
        by_id = snapshot.by_id
        for number in snapshot.site_factors:
            job = by_id.get(number)
            if job is None:
                continue
            value = ours.get(number, ours.get(job.array))
            if isinstance(value, int):
                found[number] = value
            elif FIRST in job.comment:
                found[number] = first_factor(job.comment)
        return found

    def priorities(self) -> dict[int, int]:
        """What we froze jobs at."""
        held = self.held(Knob.PRIORITY)
        return {job: value for job, value in held.items() if isinstance(value, int)}

    def given(self, snapshot: Snapshot) -> dict[int, int]:
        """What Slurm itself gave jobs that we froze; a task has it from its array."""
        frozen = {
            entry.job: entry.before
            for entry in self.entries.values()
            if entry.knob is Knob.PRIORITY
        }
        found = {}
        for job in snapshot.pending if frozen else ():
            factor = snapshot.factors.get(job.id)
            before = frozen.get(job.id, frozen.get(job.array))
            if factor is not None and factor.frozen and isinstance(before, int):
                found[job.id] = before
        return found

    def hinted(self, knob: Knob) -> dict[int, str]:
        """The nodes, or features, that we sent jobs to."""
        return {
            job: text for job, text in self.held(knob).items() if isinstance(text, str) and text
        }


def value_in(snapshot: Snapshot, job: int, knob: Knob) -> Value:
    """What somebody has set of a waiting job, as Slurm shows it; None: nothing, or not shown."""
    factor = snapshot.factors.get(job)
    if factor is None or knob in (Knob.NODE, Knob.FEATURES):
        return None
    if knob is Knob.PRIORITY:
        return factor.priority if factor.frozen else None
    return factor.site or None
