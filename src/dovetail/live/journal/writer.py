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
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple
from pathlib import Path
from typing import Self

from dovetail.live.config import JournalConfig
from dovetail.live.guardrails.base import Verdict
from dovetail.live.journal.decision_log import DecisionLog
from dovetail.live.journal.errors import in_words
from dovetail.live.journal.file import open_for_writing
from dovetail.live.journal.reader import JournalReader
from dovetail.live.journal.records import NOTHING_HAPPENED, CycleRecord, Happened
from dovetail.live.journal.retention import Retention
from dovetail.live.journal.run_rows import write_happened
from dovetail.live.journal.schema import create
from dovetail.live.journal.shape import ClusterShape, pack_shape, shape_of
from dovetail.live.model.decision import Decision
from dovetail.live.model.mode import Mode
from dovetail.live.model.snapshot import Snapshot

LOG = logging.getLogger(__name__)


class Journal:
    """See the package's docstring for its use; `open` makes one."""

    def __init__(self, config: JournalConfig, connection: sqlite3.Connection, lock: int) -> None:
        self.path = Path(config.path)
        self.past = JournalReader(self.path, connection)  # what it holds so far
        self.connection, self._lock = connection, lock
        self._retention = Retention(config, connection)
        self._decisions = DecisionLog()
        self._shape = ClusterShape()
        self._next_action = _next_action(connection)
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

    @classmethod
    def in_memory(cls, config: JournalConfig) -> Journal:
        """For undoing where there is no journal: nothing is left on disk."""
        connection = sqlite3.connect(":memory:", isolation_level=None)
        create(connection)
        return cls(config, connection, os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *why: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file, and then of the lock."""
        try:
            with in_words(self.path):
                self.connection.close()
        finally:
            os.close(self._lock)

    @property
    def cycle(self) -> int:
        """The number of the cycle under way."""
        return self._cycle

    @property
    def next_action(self) -> int:
        """The number of the next action to be written."""
        return self._next_action

    def numbered(self, count: int) -> None:
        """So many actions have been written; for the ledger, which alone does that."""
        self._next_action += count

    @property
    def recovered_from(self) -> Path | None:
        """A damaged journal in which touched jobs may stand, until `recovery_done` is called.

        While there is one, restoring must look at all jobs, not only at those in this journal.
        """
        return self.past.recovered_from()

    def recovery_done(self, wall: float) -> None:
        """Everything that the damaged journal might have listed has been set back."""
        with self.transaction():
            self.connection.execute(
                "INSERT INTO recoveries VALUES (NULL, ?, ?, '')", (self._cycle, wall)
            )

    def record(
        self,
        cycle: CycleRecord,
        snapshot: Snapshot | None = None,
        decision: Decision | None = None,
        verdicts: Sequence[Verdict] = (),
        happened: Happened = NOTHING_HAPPENED,
    ) -> int:
        """Write the cycle under way down, after all else in it; returns its number."""
        number, first, write = self._cycle, self._cycle_first, self.connection
        shape = self._shape if snapshot is None else shape_of(snapshot)
        with in_words(self.path):
            chapter = self._retention.chapter_of(number)
        saved = None if decision is None else self._decisions.prepare(decision, chapter)
        with self.transaction():
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
        self._cycle, self._shape = number + 1, shape
        self._cycle_first = self._next_action
        if saved is not None:
            self._decisions.keep(saved)
        with in_words(self.path):
            self._retention.written(number, chapter, cycle.wall)
        return number

    def switched(self, mode: Mode, who: str, why: str, wall: float) -> None:
        """The mode was changed, by whom and why."""
        with self.transaction():
            self.connection.execute(
                "INSERT INTO modes VALUES (NULL, ?, ?, ?, ?, ?)",
                (self._cycle, wall, mode.value, who, why),
            )

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing; what fails is a JournalError, and the journal can be tried again."""
        with in_words(self.path):
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self.connection.execute("COMMIT")
            except BaseException:
                if self.connection.in_transaction:  # SQLite may have given up by itself
                    self.connection.execute("ROLLBACK")
                raise

    @contextmanager
    def synced_transaction(self) -> Iterator[None]:
        """The same, and it waits for the disk."""
        with in_words(self.path):
            self.connection.execute("PRAGMA synchronous = FULL")
        try:
            with self.transaction():
                yield
        finally:
            self.connection.execute("PRAGMA synchronous = NORMAL")


def _next_action(connection: sqlite3.Connection) -> int:
    """A number that no row speaks of, though retention may have taken the last action out."""
    (last,) = connection.execute(
        "SELECT max((SELECT coalesce(max(id), 0) FROM actions),"
        " (SELECT coalesce(max(action), 0) FROM results),"
        " (SELECT coalesce(max(opening), 0) FROM closings),"
        " (SELECT coalesce(max(first_action), 1) - 1 FROM cycles))"
    ).fetchone()
    return int(last) + 1
