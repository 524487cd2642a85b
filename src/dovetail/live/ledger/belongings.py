"""What we have set about which jobs: the daemon's memory of it, beside the journal's.

own = Belongings()
own.tried(changes); own.settled(results)
own.now().site[17], own.touches(journal.past.touched())
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from dovetail.live.ledger.restore import Touch
from dovetail.live.model.decision import Change, Knob, Result
from dovetail.live.model.first_factor import FIRST, first_factor
from dovetail.live.model.snapshot import LiveJob, Snapshot


@dataclass(frozen=True, slots=True)
class Own:
    """What we have set: site factors, frozen priorities with what Slurm gave, pinned nodes."""

    site: Mapping[int, int]
    frozen: Mapping[int, int]  # job -> Slurm's own priority when it was frozen
    nodes: Mapping[int, str]
    priorities: Mapping[int, int] = field(default_factory=dict)  # job -> what it was frozen at

    def factors(self, snapshot: Snapshot) -> dict[int, int]:
        """Site factors by job that are ours: set by us, inherited from an array, or given first."""
        found = {}
        for number, factor in snapshot.factors.items():
            job = snapshot.by_id.get(number) if factor.site else None
            if job is None:
                continue
            if number in self.site:
                found[number] = self.site[number]
            elif job.array in self.site:
                found[number] = self.site[job.array]
            elif FIRST in job.comment:
                found[number] = first_factor(job.comment)
        return found

    def given(self, snapshot: Snapshot) -> dict[int, int]:
        """What Slurm itself gave jobs that we froze; a task has it from its array."""
        found = {}
        for job in snapshot.pending if self.frozen else ():
            factor = snapshot.factors.get(job.id)
            number = job.id if job.id in self.frozen else job.array
            if factor is not None and factor.frozen and number in self.frozen:
                found[job.id] = self.frozen[number]
        return found


NOTHING = Own({}, {}, {})


class Belongings:
    """Values that we asked for, and those that we know Slurm has."""

    def __init__(self) -> None:
        self._touches: dict[tuple[int, Knob], Touch] = {}
        self._held: dict[tuple[int, Knob], str] = {}  # what Slurm took

    def __bool__(self) -> bool:
        return bool(self._touches)

    def tried(self, changes: Iterable[Change]) -> None:
        """These are about to be sent: from now on they may have to be undone."""
        for change in changes:
            key = (change.job, change.knob)
            touch = self._touches.get(key) or Touch(change.job, change.knob, change.before)
            self._touches[key] = replace(touch, tried=touch.tried | {change.after})

    def settled(self, results: Iterable[Result]) -> None:
        """What became of them; a change that failed leaves what was there before."""
        for result in results:
            if result.done:
                self._held[result.change.job, result.change.knob] = result.change.after

    def now(self) -> Own:
        """What Slurm has of us now."""
        frozen = {
            touch.job: int(touch.before)
            for (_, knob), touch in self._touches.items()
            if knob is Knob.PRIORITY
        }
        return Own(
            site={job: int(text) for job, text in self._having(Knob.SITE_FACTOR)},
            frozen=frozen,
            nodes={job: text for job, text in self._having(Knob.NODE) if text},
            priorities={job: int(text) for job, text in self._having(Knob.PRIORITY)},
        )

    def _having(self, knob: Knob) -> Iterator[tuple[int, str]]:
        return ((job, text) for (job, each), text in self._held.items() if each is knob)

    def touches(self, recorded: Sequence[Touch]) -> tuple[Touch, ...]:
        """All that must be undone: by the journal's account and by ours."""
        every = {(touch.job, touch.knob): touch for touch in recorded}
        for key, touch in self._touches.items():
            known = every.get(key)
            tried = touch.tried | known.tried if known is not None else touch.tried
            every[key] = replace(touch, tried=tried)
        return tuple(every.values())

    def look(self, snapshot: Snapshot) -> None:
        """See what Slurm has: a change whose answer got lost may have been made all the same.

        Jobs that Slurm has forgotten need no undoing, and are forgotten here.
        """
        if not self._touches:
            return
        alive = {job.id for job in snapshot.jobs if job.pending or job.running}
        alive |= {job.array for job in snapshot.jobs if job.array}
        self._touches = {key: touch for key, touch in self._touches.items() if key[0] in alive}
        self._held = {key: text for key, text in self._held.items() if key[0] in alive}
        for key, touch in self._touches.items():
            value = value_of(touch.job, touch.knob, snapshot)
            if value in touch.tried:
                self._held[key] = value

    def adopt(self, touches: Iterable[Touch]) -> None:
        """What we set once and had given up, and what is there again all the same."""
        for touch in touches:
            self._touches[touch.job, touch.knob] = touch

    def knows(self, job: LiveJob, knob: Knob) -> bool:
        """Whether the job, or the array that it comes from, was touched."""
        return (job.id, knob) in self._touches or (job.array, knob) in self._touches

    def clear(self) -> None:
        self._touches.clear()
        self._held.clear()


def value_of(job: int, knob: Knob, snapshot: Snapshot) -> str:
    """What somebody has set of a waiting job: its site factor or its priority; empty: nothing."""
    factor = snapshot.factors.get(job)
    if factor is None:
        return ""
    if knob is Knob.PRIORITY and factor.frozen:
        return str(factor.priority)
    return str(factor.site) if knob is Knob.SITE_FACTOR and factor.site else ""
