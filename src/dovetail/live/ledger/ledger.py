"""The ledger: every change is opened here before it is sent, and closed when it is undone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from dovetail.live.journal import Journal
from dovetail.live.journal.knob_words import written
from dovetail.live.ledger.entry import Key, LedgerEntry, LedgerView, value_in
from dovetail.live.model.decision import UNDO, Change, Knob, Result, Value
from dovetail.live.model.first_factor import first_factor
from dovetail.live.model.snapshot import LiveJob, Snapshot

SHOWN = (Knob.SITE_FACTOR, Knob.PRIORITY)
"""Knobs whose values Slurm shows of waiting jobs."""


class Intents(NamedTuple):
    """Changes that are in the journal and may now be sent."""

    first: int  # number of the first action; the others follow
    changes: tuple[Change, ...]


class Ledger:
    """The only writer of actions, results and closings.

    A change that failed stays open: an error may be a time-out of something that was done. A frozen
    priority is undone by giving it back to Slurm, everything else by its old value.
    """

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self._open = open_entries(journal)
        # Closed in the file, but Slurm shows such a value again; derived from the file's history.
        self._again: dict[Key, LedgerEntry] = {}
        self._strange: set[tuple[Key, Value]] = set()  # not ours by the history

    @property
    def view(self) -> LedgerView:
        return LedgerView({**self._again, **self._open})

    # -- writing

    def intend(self, changes: Sequence[Change], wall: float) -> Intents:
        """Write down what is about to be sent; once this returns, it may be."""
        first, cycle = self.journal.next_action, self.journal.cycle
        entries = self._opened(changes, first)
        rows = [
            (first + n, cycle, wall, change.job, change.label, *self._words(change),
             change.reason, None if change.after is None else entries[_key(change)].opening)
            for n, change in enumerate(changes)
        ]  # fmt: skip
        if rows:
            with self.journal.synced_transaction():
                self.journal.connection.executemany(
                    "INSERT INTO actions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows
                )
            self.journal.numbered(len(rows))
            self._open.update(entries)
            for key, entry in entries.items():
                self._again.pop(key, None)
                self._strange -= {(key, value) for value in entry.asked}
        return Intents(first, tuple(changes))

    def settle(self, intents: Intents, results: Sequence[Result], wall: float) -> None:
        """Write down what became of the changes: one result for each, in their order."""
        numbered = list(enumerate(results, intents.first))
        known = {
            key: replace(self._open[key], held=result.change.after)
            for _, result in numbered
            if result.done and (key := _key(result.change)) in self._open
        }
        closed = {
            _key(result.change)
            for number, result in numbered
            if result.done and self._undone(number, result.change)
        }
        with self.journal.transaction():
            self.journal.connection.executemany(
                "INSERT INTO results VALUES (?, ?, ?, ?)",
                [(number, self.journal.cycle, wall, r.error) for number, r in numbered],
            )
            self._close(closed, wall, "set back")
        self._open.update(known)
        self._forget(closed)

    def let_go(self, jobs: Iterable[int], wall: float, why: str) -> None:
        """Nothing is left to undo about these jobs, as Slurm itself says."""
        chosen = set(jobs)
        closed = {key for key in self._open if key.job in chosen}
        if closed:
            with self.journal.transaction():
                self._close(closed, wall, why)
        self._forget(closed)
        self._again = {key: each for key, each in self._again.items() if key.job not in chosen}

    def _opened(self, changes: Sequence[Change], first: int) -> dict[Key, LedgerEntry]:
        """The entries of these changes as they will be once the changes are written."""
        entries: dict[Key, LedgerEntry] = {}
        for number, change in enumerate(changes, first):
            key = _key(change)
            entry = entries.get(key) or self._open.get(key)
            if change.after is None:  # gives back what was set: opens nothing by itself
                if entry is not None:
                    entries[key] = replace(entry, last=number)
                continue
            if entry is None:
                again = self._again.get(key)
                entry = again or LedgerEntry(change.job, change.knob, change.before)
                entry = replace(entry, opening=number)
            entries[key] = replace(entry, asked=entry.asked | {change.after}, last=number)
        return entries

    def _words(self, change: Change) -> tuple[str, str, str]:
        """As in the file; what we had set ourselves is not what it was before."""
        again = self._again.get(_key(change))
        return written(change if again is None else replace(change, before=again.before))

    def _undone(self, number: int, change: Change) -> bool:
        """Whether a change that was made leaves its value as it was; none after it may be."""
        entry = self._open.get(_key(change))
        if entry is None or entry.last != number:
            return False
        if change.knob is Knob.PRIORITY:
            return change.after is None
        return change.after == entry.before

    def _close(self, keys: Iterable[Key], wall: float, why: str) -> None:
        self.journal.connection.executemany(
            "INSERT INTO closings VALUES (?, ?, ?, ?)",
            [(self._open[key].opening, self.journal.cycle, wall, why) for key in keys],
        )

    def _forget(self, keys: Iterable[Key]) -> None:
        for key in keys:
            del self._open[key]

    # -- looking

    def look(self, snapshot: Snapshot) -> None:
        """Compare with what Slurm shows; JournalError where the history cannot be read.

        A change whose answer got lost may have been made all the same. And a value that the history
        knows as ours is ours although it was closed: a job that had ended was requeued and has it
        still, or a killed daemon's last message came late.
        """
        again = {entry.key: entry for entry in self._shown_again(snapshot)}
        sites = snapshot.site_factors
        for key, entry in [*self._open.items()]:
            older = again.pop(key, None)
            if older is None and key.knob is Knob.SITE_FACTOR and entry.held == sites.get(key.job):
                continue  # as it was: most are
            if older is not None:
                entry = replace(entry, asked=entry.asked | older.asked)
            value = value_in(snapshot, key.job, key.knob)
            if value is not None and value != entry.held and value in entry.asked:
                entry = replace(entry, held=value)
            self._open[key] = entry
        self._again = again

    def expect_requeued(self, snapshot: Snapshot) -> None:
        """Jobs that came back, of which Slurm does not tell the factor: to be put back unseen."""
        view = self.view
        unseen = [
            job
            for job in snapshot.jobs
            if job.restarts > 0 and job.id not in snapshot.factors
            and (job.pending or job.running) and not view.knows(job, Knob.SITE_FACTOR)
        ]  # fmt: skip
        history = self._history(unseen)
        for job in unseen:
            entry = _past_entry(job, Knob.SITE_FACTOR, history)
            if entry is not None:
                self._again[entry.key] = entry

    def _shown_again(self, snapshot: Snapshot) -> Iterator[LedgerEntry]:
        by_id, sites = snapshot.by_id, snapshot.site_factors
        held = {k.job: each.held for k, each in self._open.items() if k.knob is Knob.SITE_FACTOR}
        suspects = [
            (job, Key(job.id, knob), value)
            # Of ten thousand jobs few have anything set: only these are looked at closely.
            for number in sorted(snapshot.touched)
            if not (number in sites and held.get(number) == sites[number])
            if (job := by_id.get(number)) is not None and job.pending
            for knob in SHOWN
            if isinstance(value := value_in(snapshot, number, knob), int)
            and not self._asked(job, knob, value)
            and (knob is not Knob.SITE_FACTOR or value != first_factor(job.comment))
            and (Key(job.id, knob), value) not in self._strange
        ]
        history = self._history([job for job, _, _ in suspects])
        for job, key, value in suspects:
            entry = _past_entry(job, key.knob, history)
            if entry is not None and value in entry.asked:
                yield replace(entry, held=value)
            else:
                # An operator's: to ask the history again in every cycle would take a tenth of a
                # second each time, as there is no index by job.
                self._strange.add((key, value))

    def _asked(self, job: LiveJob, knob: Knob, value: Value) -> bool:
        """Whether an open entry of the job or of its array explains the value."""
        entries = (self._open.get(Key(number, knob)) for number in (job.id, job.array))
        return any(entry is not None and value in entry.asked for entry in entries)

    def _history(self, jobs: Sequence[LiveJob]) -> Mapping[Key, list[Change]]:
        """Everything that was ever asked for of these jobs and of their arrays."""
        numbers = {number for job in jobs for number in (job.id, job.array) if number}
        found: dict[Key, list[Change]] = {}
        for action in self.journal.past.actions(*numbers) if numbers else ():
            if action.reason != UNDO:
                change = Change(
                    action.job, action.label, action.knob, action.before, action.after, ""
                )
                found.setdefault(_key(change), []).append(change)
        return found


def open_entries(journal: Journal) -> dict[Key, LedgerEntry]:
    """What the file says must be undone, with every value that was asked for."""
    entries: dict[Key, LedgerEntry] = {}
    for action in journal.past.open_actions():
        key = Key(action.job, action.knob)
        entry = entries.get(key) or LedgerEntry(
            action.job, action.knob, action.before, opening=action.opening
        )
        entries[key] = replace(
            entry,
            asked=entry.asked | {action.after},
            held=action.after if action.done else entry.held,
            last=action.number,
        )
    return entries


def _past_entry(
    job: LiveJob, knob: Knob, history: Mapping[Key, list[Change]]
) -> LedgerEntry | None:
    """What was ever set of a job or of its array; None: nothing."""
    changes = [*history.get(Key(job.array, knob), ()), *history.get(Key(job.id, knob), ())]
    asked = frozenset(change.after for change in changes if change.after is not None)
    return LedgerEntry(job.id, knob, changes[0].before, asked) if asked else None


def _key(change: Change) -> Key:
    return Key(change.job, change.knob)
