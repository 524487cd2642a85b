"""Changing jobs and changing them back: written down first, read back afterwards."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from dovetail.live.backends.base import Backend, BackendError
from dovetail.live.journal import JournalError
from dovetail.live.ledger import Ledger
from dovetail.live.ledger.restore import Restored, restore, restore_where
from dovetail.live.ledger.unexplained import Unexplained, entries_of, unexplained
from dovetail.live.ledger.unmarked import UnmarkedFactors
from dovetail.live.model.decision import Change, Knob, Result
from dovetail.live.model.mark import is_marked
from dovetail.live.model.snapshot import LiveJob, Snapshot


@dataclass(frozen=True, slots=True)
class Clocks:
    """Time from outside: the clock that people set, and the one that only runs."""

    wall: Callable[[], float] = time.time
    steady: Callable[[], float] = time.monotonic


class Actuator:
    """The only part that changes anything."""

    def __init__(
        self,
        backend: Backend,
        ledger: Ledger,
        clocks: Clocks,
        unmarked: UnmarkedFactors | None = None,
    ) -> None:
        """unmarked: where values without a mark are written down besides, if anywhere."""
        self.backend, self.ledger, self.clocks = backend, ledger, clocks
        self.unmarked = unmarked or UnmarkedFactors()

    def send(self, changes: Sequence[Change]) -> tuple[Result, ...]:
        """Carry changes out; JournalError: nothing was sent."""
        intents = self.ledger.intend(changes, self.clocks.wall())
        self.unmarked.note(changes, {key.job for key in self.ledger.view.entries})
        try:
            results = self._read_back(self.backend.apply(changes))
        except BackendError as error:
            results = tuple(Result(change, f"not known: {error}") for change in changes)
        self.ledger.settle(intents, results, self.clocks.wall())
        return results

    def _read_back(self, results: Sequence[Result]) -> tuple[Result, ...]:
        """What Slurm took but does not have: backfill undid updates, up to version 26.05."""
        factors = self.backend.factors()
        checked = []
        for result in results:
            factor = factors.get(result.change.job)
            shown = result.change.knob is Knob.SITE_FACTOR and factor and not factor.frozen
            if result.done and factor and shown and factor.site != result.change.after:
                result = Result(result.change, f"taken, but Slurm has {factor.site} now")
            checked.append(result)
        return tuple(checked)

    def put_back(self, snapshot: Snapshot) -> Restored:
        """Undo what the ledger has, and make sure of it."""
        with suppress(JournalError):
            self.ledger.look(snapshot)
            self.ledger.expect_requeued(snapshot)
        touched, lost = tuple(self.ledger.view.entries.values()), self._lost_journal()
        if lost:
            restored = restore_where(self.is_ours, self.backend, snapshot, self._send_back)
        else:
            restored = restore(self.backend, touched, snapshot, self._send_back)
        left = {result.change.job for result in restored.left}
        with suppress(JournalError):
            # Jobs that ended, or that an operator has set since, need nothing any more.
            settled = {entry.job for entry in touched} - left
            self.ledger.let_go(settled, self.clocks.wall(), "nothing left to undo")
            self.unmarked.forget(settled)
            if lost and not left:
                self.ledger.journal.recovery_done(self.clocks.wall())
        return restored

    def put_back_some(self, jobs: frozenset[int], snapshot: Snapshot) -> Restored:
        """Undo what the ledger has of these jobs, and let go of those that Slurm does not know."""
        touched = [each for each in self.ledger.view.entries.values() if each.job in jobs]
        restored = restore(self.backend, touched, snapshot, self._send_back)
        left = {result.change.job for result in restored.left}
        settled = {entry.job for entry in touched} - left
        with suppress(JournalError):
            self.ledger.let_go(settled, self.clocks.wall(), "nothing left to undo")
        return restored

    def left_over(self) -> Unexplained:
        """What stands on waiting jobs that this journal does not explain."""
        snapshot = self.backend.read()
        with suppress(JournalError):
            return unexplained(snapshot, self.ledger.journal.past.begins(), self.unmarked.has)
        return unexplained(snapshot, math.inf, self.unmarked.has)

    def is_ours(self, job: LiveJob, factor: int) -> bool:
        """Whether a site factor is one that we set, for when no journal can tell."""
        return is_marked(factor) or self.unmarked.has(job, factor)

    def reset_ours(self, found: Unexplained, snapshot: Snapshot) -> Restored:
        """Undo exactly the values that are ours."""
        restored = restore(self.backend, entries_of(found), snapshot, self._send_back)
        if not restored.left:
            self.unmarked.forget(found.ours)
        return restored

    def reset_all(self, snapshot: Snapshot) -> Restored:
        """Undo every site factor there is, whoever set it."""
        return restore_where(lambda _, f: f != 0, self.backend, snapshot, self._send_back)

    @property
    def owes(self) -> bool:
        """Whether jobs may still have what we gave them."""
        return bool(self.ledger.view) or self._lost_journal()

    def _lost_journal(self) -> bool:
        with suppress(JournalError):
            return self.ledger.journal.recovered_from is not None
        return False

    def _send_back(self, changes: Sequence[Change]) -> Sequence[Result]:
        """Undoing is written down where that can be, and done in any case."""
        intents = None
        with suppress(JournalError):
            intents = self.ledger.intend(changes, self.clocks.wall())
        results = self._read_back(self.backend.apply(changes))
        if intents is not None:
            with suppress(JournalError):
                self.ledger.settle(intents, results, self.clocks.wall())
        return results
