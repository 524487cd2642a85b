"""The journal as others read it: reports, status, restoring, guardrails and run-time prediction.

Times are seconds since 1970; "the last days" are counted from the last cycle recorded.
"""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from dovetail.domain.jobs import Ints
from dovetail.files import check_file
from dovetail.live.guardrails.base import GuardrailOutcome, Verdict
from dovetail.live.journal.decision_log import load_reasons
from dovetail.live.journal.errors import JournalError, in_words
from dovetail.live.journal.knob_words import knob_of, value_of
from dovetail.live.journal.orders import load
from dovetail.live.journal.records import CycleRecord, EndedRun, RecordedRun
from dovetail.live.journal.run_rows import run_columns, run_of
from dovetail.live.journal.schema import APPLICATION, VERSION, uri_of
from dovetail.live.journal.shape import ClusterShape, unpack_shape
from dovetail.live.model.decision import UNDO, Knob, Value
from dovetail.live.model.mode import Mode

DAY = 86_400.0
_CYCLE = (
    "id, wall, steady, mode, sentence, policy, model, snapshot, pending, running, sent, failed,"
    " read_seconds, decide_seconds, act_seconds"
)


class Action(NamedTuple):
    """A change as it stands in the journal; `error` None: nobody knows what became of it."""

    cycle: int
    wall: float
    job: int
    label: str
    knob: Knob
    before: Value
    after: Value
    reason: str
    error: str | None


class OpenAction(NamedTuple):
    """A change of a value that must be set back."""

    opening: int  # number of the first change since the value was what it was
    number: int
    job: int
    knob: Knob
    before: Value
    after: Value
    done: bool  # Slurm is known to have taken it


class Switch(NamedTuple):
    """A change of mode."""

    wall: float
    mode: Mode
    who: str
    why: str


class JournalReader:
    """Questions to a journal; while the daemon writes it, too."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path, self._connection = path, connection
        self._columns = run_columns(connection)

    @classmethod
    def open(cls, path: Path) -> JournalReader:
        """Read-only: nothing that is asked here can harm the file or stop the daemon."""
        with in_words(path):
            if not path.exists():
                raise JournalError(
                    f"{path}: no such journal; see journal.path in the configuration"
                )
            check_file(path, path.stat().st_uid)
            return cls(path, _connect(path))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *why: object) -> None:
        self.close()

    def close(self) -> None:
        self._connection.close()

    def touched(self) -> tuple[int, ...]:
        """Jobs of which something must be set back, in the order in which it was first touched."""
        rows = self._all("SELECT job FROM touched ORDER BY id")
        return tuple(dict.fromkeys(job for (job,) in rows))

    def open_actions(self) -> tuple[OpenAction, ...]:
        """All actions on values that must be set back, oldest first."""
        rows = self._all(
            "SELECT a.opening, a.id, a.job, a.knob, a.before, a.after, r.error = ''"
            " FROM actions a LEFT JOIN results r ON r.action = a.id"
            " WHERE a.opening IN (SELECT id FROM touched) ORDER BY a.id"
        )
        return tuple(
            OpenAction(
                opening, number, job, knob_of(word), value_of(word, before),
                value_of(word, after), bool(done),
            )
            for opening, number, job, word, before, after, done in rows
        )  # fmt: skip

    def recovered_from(self) -> Path | None:
        rows = self._all("SELECT path FROM recoveries ORDER BY id DESC LIMIT 1")
        return Path(rows[0][0]) if rows and rows[0][0] else None

    def last_wall(self) -> float:
        """When the last cycle was; 0: there was none."""
        rows = self._all("SELECT wall FROM cycles ORDER BY id DESC LIMIT 1")
        return float(rows[0][0]) if rows else 0.0

    def begins(self) -> float:
        """Since when it has been kept; infinity: nothing has been written yet."""
        rows = self._all(
            "SELECT min(wall) FROM (SELECT wall FROM cycles UNION ALL SELECT wall FROM actions)"
        )
        return math.inf if rows[0][0] is None else float(rows[0][0])

    def cycles(self, last: int) -> tuple[tuple[int, CycleRecord], ...]:
        """The last so many cycles with their numbers, oldest first."""
        rows = self._all(f"SELECT {_CYCLE} FROM cycles ORDER BY id DESC LIMIT ?", last)
        return tuple(
            (number, CycleRecord(wall, steady, Mode(mode), *rest))
            for number, wall, steady, mode, *rest in reversed(rows)
        )

    def verdicts(self, cycle: int) -> tuple[Verdict, ...]:
        rows = self._all(
            "SELECT guardrail, outcome, reason FROM verdicts WHERE cycle = ? ORDER BY id", cycle
        )
        return tuple(
            Verdict(name, GuardrailOutcome(outcome), reason) for name, outcome, reason in rows
        )

    def order(self, cycle: int) -> tuple[int, ...]:
        """The order that was decided in a cycle, or the last one before it in its chapter."""
        order: Ints | None = None
        for places, _ in self._decisions(cycle):
            order = load(places, order)
        return () if order is None else tuple(order.tolist())

    def reasons(self, cycle: int) -> Mapping[int, str]:
        """Why jobs at the head of that order stood where they stood."""
        known: dict[int, str] = {}
        for _, reasons in self._decisions(cycle):
            known.update(load_reasons(reasons))
        return {job: known[job] for job in self.order(cycle) if job in known}

    def actions(self, *jobs: int) -> tuple[Action, ...]:
        """All that was done to jobs, oldest first."""
        rows = self._all(
            "SELECT a.cycle, a.wall, a.job, a.label, a.knob, a.before, a.after, a.reason, r.error"
            " FROM actions a LEFT JOIN results r ON r.action = a.id"
            " WHERE a.job IN (SELECT value FROM json_each(?)) ORDER BY a.id",
            json.dumps(jobs),
        )
        return tuple(
            Action(cycle, wall, job, label, knob_of(word), value_of(word, before),
                   value_of(word, after), reason, error)
            for cycle, wall, job, label, word, before, after, reason, error in rows
        )  # fmt: skip

    def sent(self, since: float) -> tuple[tuple[float, int], ...]:
        """(wall time, how many) of changes sent since, also of cycles that were cut short.

        Undoing is not counted: it is never limited.
        """
        rows = self._all(
            "SELECT max(wall), count(*) FROM actions"
            " WHERE id >= (SELECT coalesce(max(first_action), 0) FROM cycles WHERE wall < ?1)"
            " AND wall >= ?1 AND reason <> ?2 GROUP BY cycle ORDER BY cycle",
            *(since, UNDO),
        )
        return tuple((float(wall), int(count)) for wall, count in rows)

    def switches(self) -> tuple[Switch, ...]:
        rows = self._all("SELECT wall, mode, who, why FROM modes ORDER BY id")
        return tuple(Switch(wall, Mode(mode), who, why) for wall, mode, who, why in rows)

    def started(self, since: float, mode: Mode | None = None) -> tuple[RecordedRun, ...]:
        """Runs that began since then, all or those that began in one mode, oldest first."""
        rows = self._all(
            f"SELECT {self._columns} FROM starts WHERE start >= ?1 AND (?2 IS NULL OR mode = ?2)"
            " ORDER BY start, id",
            *(since, None if mode is None else mode.value),
        )
        return tuple(run_of(row) for row in rows)

    def waits(self, days: float, quantile: float = 0.95) -> Mapping[str, float]:
        """How long jobs waited that started in the last days, by partition: p95, in seconds."""
        waits: dict[str, list[float]] = {}
        for run in self.started(self.last_wall() - days * DAY):
            if run.wait >= 0:  # false of NaN, too
                waits.setdefault(run.partition, []).append(run.wait)
        return {name: float(np.quantile(values, quantile)) for name, values in waits.items()}

    def ended(self, since: float, until: float = float("inf")) -> Iterator[EndedRun]:
        """Runs that ended within these times, in order of their start."""
        with in_words(self.path):
            cursor = self._connection.execute(
                f"SELECT {self._columns}, finish, state FROM outcomes"
                " WHERE finish >= ? AND finish < ? ORDER BY start, id",
                (since, until),
            )
            for *row, end, state in cursor:
                yield EndedRun(run_of(tuple(row)), end, state)

    def unended(self) -> tuple[RecordedRun, ...]:
        """Runs that were seen to start, and not yet to end."""
        rows = self._all(f"SELECT {self._columns} FROM outcomes WHERE state IS NULL ORDER BY id")
        return tuple(run_of(row) for row in rows)

    def shapes(self, until: float = float("inf")) -> tuple[tuple[float, ClusterShape], ...]:
        """The cluster as it was at first and after each change, with the time of each."""
        rows = self._all("SELECT wall, shape FROM nodes WHERE wall < ? ORDER BY id", until)
        return tuple((wall, unpack_shape(shape)) for wall, shape in rows)

    def _decisions(self, cycle: int) -> list[tuple[bytes, bytes]]:
        return self._all(
            "SELECT places, reasons FROM decisions WHERE cycle <= ?1"
            " AND cycle >= (SELECT chapter FROM cycles WHERE id = ?1) ORDER BY cycle",
            cycle,
        )

    def _all(self, question: str, *values: Any) -> list[Any]:
        with in_words(self.path):
            return self._connection.execute(question, values).fetchall()


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(uri_of(path, "mode=ro"), uri=True, timeout=5.0)
    try:
        connection.execute("PRAGMA query_only = ON")
        application = connection.execute("PRAGMA application_id").fetchone()
        version = connection.execute("PRAGMA user_version").fetchone()
    except sqlite3.OperationalError:
        connection.close()
        if path.with_name(path.name + "-wal").exists():
            raise
        # Nobody writes it, and this user may not write in its folder: SQLite would like to put
        # its own files there, and does without them if told that nothing can change.
        connection = sqlite3.connect(uri_of(path, "mode=ro&immutable=1"), uri=True)
        application = connection.execute("PRAGMA application_id").fetchone()
        version = connection.execute("PRAGMA user_version").fetchone()
    if (application, version) != ((APPLICATION,), (VERSION,)):
        connection.close()
        raise JournalError(
            f"{path}: no journal that this Dovetail can read (version {version[0]}, "
            f"expected {VERSION}); see journal.path in the configuration"
        )
    return connection
