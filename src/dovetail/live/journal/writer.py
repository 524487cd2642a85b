"""The journal as the daemon writes it.

Durability: a record is in the operating system's hands when its method returns, so that kill -9 at
any moment loses nothing that was returned from. Intents are synced to the disk as well and survive
a power cut (`synchronous=FULL`, one sync per cycle that acts); of the rest a power cut may take
the last seconds (`NORMAL`), which nobody has to undo.
"""

from __future__ import annotations

import logging
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple
from pathlib import Path
from typing import NamedTuple, Self

from dovetail.live.config import JournalConfig
from dovetail.live.guardrails.base import Verdict
from dovetail.live.journal.decision_log import DecisionLog
from dovetail.live.journal.errors import in_words
from dovetail.live.journal.file import open_for_writing
from dovetail.live.journal.reader import JournalReader
from dovetail.live.journal.records import NOTHING_HAPPENED, CycleRecord, Happened
from dovetail.live.journal.retention import Retention
from dovetail.live.journal.run_rows import write_happened
from dovetail.live.journal.shape import ClusterShape, pack_shape, shape_of
from dovetail.live.journal.touches import Touching
from dovetail.live.model.decision import Change, Decision, Result
from dovetail.live.model.mode import Mode
from dovetail.live.model.snapshot import Snapshot

LOG = logging.getLogger(__name__)


class Intents(NamedTuple):
    """Changes that are in the journal and may now be sent."""

    first: int  # number of the first action; the others follow
    changes: tuple[Change, ...]


class Journal:
    """See the package's docstring for its use; `open` makes one."""

    def __init__(self, config: JournalConfig, connection: sqlite3.Connection, lock: int) -> None:
        self.path = Path(config.path)
        self.past = JournalReader(self.path, connection)  # what it holds so far
        self._connection, self._lock = connection, lock
        self._retention = Retention(config, connection)
        self._decisions = DecisionLog()
        self._shape = ClusterShape()
        self._touching = Touching.load(connection)
        (last,) = connection.execute("SELECT coalesce(max(id), 0) FROM actions").fetchone()
        self._next_action = int(last) + 1
        # A killed daemon may have acted in a cycle that it did not come to record.
        (last,) = connection.execute(
            "SELECT max(coalesce((SELECT max(id) FROM cycles), 0),"
            " coalesce((SELECT max(cycle) FROM actions), 0))"
        ).fetchone()
        self._cycle = int(last) + 1
        self._cycle_first = self._next_action  # the first action that the cycle under way can have

    @classmethod
    def open(cls, config: JournalConfig) -> Journal:
        """Take the lock, check the file, begin a new one where there is none or a damaged one."""
        path = Path(config.path)
        opened = open_for_writing(path)
        if opened.set_aside is not None:
            LOG.error("%s was damaged: kept as %s, a new one begun", path, opened.set_aside)
        try:
            with in_words(path):
                return cls(config, opened.connection, opened.lock)
        except BaseException:
            opened.connection.close()
            os.close(opened.lock)
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *why: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file, and then of the lock."""
        try:
            with in_words(self.path):
                self._connection.close()
        finally:
            os.close(self._lock)

    @property
    def cycle(self) -> int:
        """The number of the cycle under way."""
        return self._cycle

    @property
    def recovered_from(self) -> Path | None:
        """A damaged journal in which touched jobs may stand, until `recovery_done` is called.

        While there is one, restoring must look at all jobs, not only at those in this journal.
        """
        return self.past.recovered_from()

    def recovery_done(self, wall: float) -> None:
        """Everything that the damaged journal might have listed has been set back."""
        with self._transaction():
            self._connection.execute(
                "INSERT INTO recoveries VALUES (NULL, ?, ?, '')", (self._cycle, wall)
            )

    def intend(self, changes: Sequence[Change], wall: float) -> Intents:
        """Write down what is about to be sent; once this returns, it may be."""
        first = self._next_action
        openings = self._touching.openings(changes, first)
        rows = [
            (first + n, self._cycle, wall, c.job, c.label, c.knob.value, c.before, c.after,
             c.reason, opening)
            for n, (c, opening) in enumerate(zip(changes, openings, strict=True))
        ]  # fmt: skip
        if rows:
            with self._synced(), self._transaction():
                self._connection.executemany(
                    "INSERT INTO actions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows
                )
            self._touching.opened(changes, openings, first)
            self._next_action += len(rows)
        return Intents(first, tuple(changes))

    def settle(self, intents: Intents, results: Sequence[Result], wall: float) -> None:
        """Write down what became of the changes: one result for each, in their order."""
        rows = [
            (number, self._cycle, wall, result.error)
            for number, (_, result) in enumerate(
                zip(intents.changes, results, strict=True), intents.first
            )
        ]
        closed = self._touching.closed_by(results, intents.first)
        with self._transaction():
            self._connection.executemany("INSERT INTO results VALUES (?, ?, ?, ?)", rows)
            self._close(closed.values(), wall, "set back")
        self._touching.forget(closed)

    def let_go(self, jobs: Iterable[int], wall: float, why: str) -> None:
        """Nothing is left to undo about these jobs, as Slurm itself says."""
        closed = self._touching.of_jobs(jobs)
        with self._transaction():
            self._close(closed.values(), wall, why)
        self._touching.forget(closed)

    def record(
        self,
        cycle: CycleRecord,
        snapshot: Snapshot | None = None,
        decision: Decision | None = None,
        verdicts: Sequence[Verdict] = (),
        happened: Happened = NOTHING_HAPPENED,
    ) -> int:
        """Write the cycle under way down, after all else in it; returns its number."""
        number, first, write = self._cycle, self._cycle_first, self._connection
        shape = self._shape if snapshot is None else shape_of(snapshot)
        closed = self._touching.of_jobs(end.job for end in happened.ended if end.left)
        with in_words(self.path):
            chapter = self._retention.chapter_of(number)
        saved = None if decision is None else self._decisions.prepare(decision, chapter)
        with self._transaction():
            _, _, _, *plain = astuple(cycle)
            write.execute(
                f"INSERT INTO cycles VALUES ({', '.join('?' * 17)})",
                (number, chapter, first, cycle.wall, cycle.steady, cycle.mode.value, *plain),
            )
            if saved is not None:
                write.execute("INSERT INTO decisions VALUES (?, ?, ?, ?)", (number, *saved.row))
            write.executemany(
                "INSERT INTO verdicts VALUES (NULL, ?, ?, ?, ?)",
                [(number, v.guardrail, v.outcome.value, v.reason) for v in verdicts],
            )
            if shape != self._shape:
                write.execute(
                    "INSERT INTO nodes VALUES (NULL, ?, ?, ?)",
                    (number, cycle.wall, pack_shape(shape)),
                )
            write_happened(write, number, happened)
            self._close(closed.values(), cycle.wall, "the job is gone")
        self._cycle, self._shape = number + 1, shape
        self._cycle_first = self._next_action
        self._touching.forget(closed)
        if saved is not None:
            self._decisions.keep(saved)
        with in_words(self.path):
            self._retention.written(number, chapter, cycle.wall)
        return number

    def switched(self, mode: Mode, who: str, why: str, wall: float) -> None:
        """The mode was changed, by whom and why."""
        with self._transaction():
            self._connection.execute(
                "INSERT INTO modes VALUES (NULL, ?, ?, ?, ?, ?)",
                (self._cycle, wall, mode.value, who, why),
            )

    def _close(self, openings: Iterable[int], wall: float, why: str) -> None:
        self._connection.executemany(
            "INSERT INTO closings VALUES (?, ?, ?, ?)",
            [(opening, self._cycle, wall, why) for opening in openings],
        )

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """All or nothing; what fails is a JournalError, and the journal can be tried again."""
        with in_words(self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:  # SQLite may have given up by itself
                    self._connection.execute("ROLLBACK")
                raise

    @contextmanager
    def _synced(self) -> Iterator[None]:
        """Commits within wait for the disk."""
        with in_words(self.path):
            self._connection.execute("PRAGMA synchronous = FULL")
        try:
            yield
        finally:
            self._connection.execute("PRAGMA synchronous = NORMAL")
