"""Changing jobs and changing them back: written down first, read back afterwards.

hand = Hand(backend, journal, clocks)
results = hand.send(changes)            # in the journal before it is sent, verified after
restored = hand.put_back(snapshot)      # everything that we ever touched
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from dovetail.domain.decision import Change, Knob, Result
from dovetail.domain.snapshot import Snapshot
from dovetail.live.backends.base import Backend, BackendError
from dovetail.live.belongings import Belongings
from dovetail.live.journal import Journal, JournalError, Reading
from dovetail.live.restoring import Restored, Touch, restore, restore_all


@dataclass(frozen=True, slots=True)
class Clocks:
    """Time from outside: the clock that people set, and the one that only runs."""

    wall: Callable[[], float] = time.time
    steady: Callable[[], float] = time.monotonic


class Hand:
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

    def put_back(self, snapshot: Snapshot) -> Restored:
        """Undo what the journal or our memory says that we touched, and make sure of it."""
        lost = self._lost_journal()
        touched = self.own.touches(self._recorded())
        if lost:
            restored = restore_all(self.backend, snapshot, self._send_back)
        else:
            restored = restore(self.backend, touched, snapshot, self._send_back)
        left = {result.change.job for result in restored.left}
        with suppress(JournalError):
            # Jobs that ended, or that an operator has set since, need nothing any more.
            settled = {touch.job for touch in touched} - left
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


def recorded_touches(past: Reading) -> tuple[Touch, ...]:
    """What the journal says must be undone, with every value that was ever asked for."""
    found = []
    for job, label, knob, before in past.touched():
        tried = {action.after for action in past.actions(job) if action.knob is knob}
        found.append(Touch(job, label, knob, before, frozenset(tried)))
    return tuple(found)
