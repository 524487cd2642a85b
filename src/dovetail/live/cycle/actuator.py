"""Changing jobs and changing them back: written down first, read back afterwards.

actuator = Actuator(backend, journal, clocks)
results = actuator.send(changes)            # in the journal before it is sent, verified after
restored = actuator.put_back(snapshot)      # everything that we ever touched
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from dovetail.live.backends.base import Backend, BackendError
from dovetail.live.journal import Journal, JournalError, JournalReader
from dovetail.live.ledger.belongings import Belongings, value_of
from dovetail.live.ledger.restore import REASON, Restored, Touch, restore, restore_all
from dovetail.live.model.decision import Change, Knob, Result
from dovetail.live.model.first_factor import first_factor
from dovetail.live.model.snapshot import LiveJob, Snapshot

SITE = Knob.SITE_FACTOR


@dataclass(frozen=True, slots=True)
class Clocks:
    """Time from outside: the clock that people set, and the one that only runs."""

    wall: Callable[[], float] = time.time
    steady: Callable[[], float] = time.monotonic


class Actuator:
    """The only part that changes anything."""

    def __init__(self, backend: Backend, journal: Journal, clocks: Clocks) -> None:
        self.backend, self.journal, self.clocks = backend, journal, clocks
        self.own = Belongings()

    def send(self, changes: Sequence[Change]) -> tuple[Result, ...]:
        """Carry changes out; JournalError: nothing was sent."""
        intents = self.journal.intend(changes, self.clocks.wall())
        self.own.tried(changes)
        try:
            results = self._read_back(self.backend.apply(changes))
        except BackendError as error:
            results = tuple(Result(change, f"not known: {error}") for change in changes)
        self.own.settled(results)
        self.journal.settle(intents, results, self.clocks.wall())
        return results

    def _read_back(self, results: Sequence[Result]) -> tuple[Result, ...]:
        """What Slurm took but does not have: backfill undid updates, up to version 26.05."""
        factors = self.backend.factors()
        checked = []
        for result in results:
            factor = factors.get(result.change.job)
            by_site = result.change.knob is Knob.SITE_FACTOR
            if result.done and by_site and factor and str(factor.site) != result.change.after:
                result = Result(result.change, f"taken, but Slurm has {factor.site} now")
            checked.append(result)
        return tuple(checked)

    def look(self, snapshot: Snapshot) -> None:
        """Learn what Slurm has of us; JournalError where that cannot be found out.

        A value that the journal knows as ours is ours although it was given up: a job that had
        ended was requeued and has it still, or a killed daemon's last message came late.
        """
        self.own.look(snapshot)
        self.own.adopt(self._returned(snapshot))

    def _returned(self, snapshot: Snapshot) -> list[Touch]:
        found = []
        for job in snapshot.pending:
            for knob in (Knob.SITE_FACTOR, Knob.PRIORITY):
                value = value_of(job.id, knob, snapshot)
                if (
                    not value
                    or self.own.knows(job, knob)
                    or value == str(first_factor(job.comment))
                ):
                    continue
                touch = recorded_touch(self.journal.past, job, knob)
                if touch is not None and value in touch.tried:
                    found.append(touch)
        return found

    def _requeued(self, snapshot: Snapshot) -> list[Touch]:
        """Jobs that came back, of which Slurm does not tell the factor: put back unseen."""
        found = []
        for job in snapshot.jobs:
            unseen = job.restarts > 0 and job.id not in snapshot.factors
            if unseen and (job.pending or job.running) and not self.own.knows(job, SITE):
                touch = recorded_touch(self.journal.past, job, SITE)
                found += [touch] if touch is not None else []
        return found

    def put_back(self, snapshot: Snapshot) -> Restored:
        """Undo what the journal or our memory says that we touched, and make sure of it."""
        with suppress(JournalError):
            self.look(snapshot)
            self.own.adopt(self._requeued(snapshot))
        lost = self._lost_journal()
        touched = self.own.touches(self._recorded())
        if lost:
            restored = restore_all(self.backend, snapshot, self._send_back)
        else:
            restored = restore(self.backend, touched, snapshot, self._send_back)
        left = {result.change.job for result in restored.left}
        with suppress(JournalError):
            # Jobs that ended, or that an operator has set since, need nothing any more.
            settled = {touch.job for touch in (*touched, *self._recorded())} - left
            self.journal.let_go(settled, self.clocks.wall(), "nothing left to undo")
            if lost and not left:
                self.journal.recovery_done(self.clocks.wall())
        if not left:
            self.own.clear()
        return restored

    @property
    def owes(self) -> bool:
        """Whether jobs may still have what we gave them."""
        return bool(self.own) or bool(self._recorded()) or self._lost_journal()

    def _recorded(self) -> Sequence[Touch]:
        """By the journal; one that cannot be read leaves us our memory."""
        try:
            return recorded_touches(self.journal.past)
        except JournalError:
            return ()

    def _lost_journal(self) -> bool:
        with suppress(JournalError):
            return self.journal.recovered_from is not None
        return False

    def _send_back(self, changes: Sequence[Change]) -> Sequence[Result]:
        """Undoing is written down where that can be, and done in any case."""
        intents = None
        with suppress(JournalError):
            intents = self.journal.intend(changes, self.clocks.wall())
        results = self.backend.apply(changes)
        if intents is not None:
            with suppress(JournalError):
                self.journal.settle(intents, results, self.clocks.wall())
        return results


def recorded_touches(past: JournalReader) -> tuple[Touch, ...]:
    """What the journal says must be undone, with every value that was ever asked for."""
    found = []
    for job, _, knob, before in past.touched():
        tried = {action.after for action in past.actions(job) if action.knob is knob}
        found.append(Touch(job, knob, before, frozenset(tried)))
    return tuple(found)


def recorded_touch(past: JournalReader, job: LiveJob, knob: Knob) -> Touch | None:
    """All that was ever asked for of a job or of its array; None: nothing was."""
    actions = [
        action
        for number in {job.id, job.array} - {0}
        for action in past.actions(number)
        if action.knob is knob and action.reason != REASON
    ]
    if not actions:
        return None
    return Touch(job.id, knob, actions[0].before, frozenset(action.after for action in actions))
