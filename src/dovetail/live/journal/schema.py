"""The tables. Rows are added, never changed; only retention takes old ones out.

Triggers refuse UPDATE and DELETE: a journal that a slip of the hand or of the code can rewrite is
no evidence. Retention drops the DELETE triggers and makes them anew inside its own transaction, so
that they are never missing for anybody else, not even after a crash.

Everything carries the number of the cycle that it was written in. It only grows, whatever the wall
clock does, and it is what retention cuts by.

An action is the *intent* of a change, written before the change is sent. Its `opening` is the
action that first touched this knob of this job, possibly itself; a row in `closings` says that the
value is what it was before, or that the job is gone. So what must be undone is a plain question,
`touched`, whatever the daemon was doing when it was killed.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

APPLICATION = 0x44565431  # "DVT1": tells a journal from other people's databases
VERSION = 1

TABLES = {
    # chapter: the cycle from which on later ones can be read, see retention.py
    # first_action: the least number that an action in it can have
    "cycles": "id INTEGER PRIMARY KEY, chapter INTEGER NOT NULL, first_action INTEGER NOT NULL,"
    " wall REAL NOT NULL, steady REAL NOT NULL, mode TEXT NOT NULL, sentence TEXT NOT NULL,"
    " policy TEXT NOT NULL, model TEXT NOT NULL, snapshot TEXT NOT NULL, pending INTEGER NOT NULL,"
    " running INTEGER NOT NULL, sent INTEGER NOT NULL, failed INTEGER NOT NULL,"
    " read_seconds REAL, decide_seconds REAL, act_seconds REAL",
    # the first of a chapter says all, later ones only what differs, see orders.py
    "decisions": "cycle INTEGER PRIMARY KEY, places BLOB NOT NULL, reasons BLOB NOT NULL,"
    " untouched INTEGER NOT NULL",
    "verdicts": "id INTEGER PRIMARY KEY, cycle INTEGER NOT NULL, guardrail TEXT NOT NULL,"
    " outcome TEXT NOT NULL, reason TEXT NOT NULL",
    "actions": "id INTEGER PRIMARY KEY, cycle INTEGER NOT NULL, wall REAL NOT NULL,"
    " job INTEGER NOT NULL, label TEXT NOT NULL, knob TEXT NOT NULL, before TEXT NOT NULL,"
    " after TEXT NOT NULL, reason TEXT NOT NULL, opening INTEGER",
    "results": "action INTEGER PRIMARY KEY, cycle INTEGER NOT NULL, wall REAL NOT NULL,"
    " error TEXT NOT NULL",
    "closings": "opening INTEGER PRIMARY KEY, cycle INTEGER NOT NULL, wall REAL NOT NULL,"
    " why TEXT NOT NULL",
    "starts": "id INTEGER PRIMARY KEY, cycle INTEGER NOT NULL, job INTEGER NOT NULL,"
    " label TEXT NOT NULL, user TEXT NOT NULL, account TEXT NOT NULL, partition TEXT NOT NULL,"
    " qos TEXT NOT NULL, submit REAL, eligible REAL, start REAL NOT NULL, time_limit REAL,"
    " gpus INTEGER NOT NULL, gpu_type TEXT NOT NULL, nodes INTEGER NOT NULL, cpus REAL NOT NULL,"
    " memory_gb REAL NOT NULL, hosts TEXT NOT NULL, host_gpus TEXT NOT NULL,"
    " array INTEGER NOT NULL, restarts INTEGER NOT NULL, mode TEXT NOT NULL, rank INTEGER NOT NULL,"
    " name TEXT NOT NULL DEFAULT ''",
    "ends": "id INTEGER PRIMARY KEY, cycle INTEGER NOT NULL, job INTEGER NOT NULL,"
    " start_id INTEGER, finish REAL NOT NULL, state TEXT NOT NULL",
    "nodes": "id INTEGER PRIMARY KEY, cycle INTEGER NOT NULL, wall REAL NOT NULL,"
    " shape BLOB NOT NULL",
    "modes": "id INTEGER PRIMARY KEY, cycle INTEGER NOT NULL, wall REAL NOT NULL,"
    " mode TEXT NOT NULL, who TEXT NOT NULL, why TEXT NOT NULL",
    "recoveries": "id INTEGER PRIMARY KEY, cycle INTEGER NOT NULL, wall REAL NOT NULL,"
    " path TEXT NOT NULL",  # empty: dealt with
}

LATER = (("starts", "name", "TEXT NOT NULL DEFAULT ''"),)
"""Columns that journals of the same version may lack, always the last of their table: whoever
writes adds them, whoever reads does without."""

ABOUT = {
    "cycles": "One round of the daemon: when, in which mode, and what happened in one sentence.",
    "decisions": "The order that was decided, packed: the first of a chapter in full, later ones "
    "as differences.",
    "verdicts": "What each guardrail said about a decision, with its reason.",
    "actions": "Intents of changes to jobs, written before they are sent.",
    "results": "What came of an action; an empty error: it was done.",
    "closings": "The value of an opening action is what it was before, or the job is gone.",
    "starts": "Jobs that were seen to start, with what they asked for and where they run.",
    "ends": "How runs ended: Slurm's word, GONE or REQUEUED.",
    "nodes": "The cluster's shape, packed; written when it changes.",
    "modes": "Changes of mode: who asked for them, and why.",
    "recoveries": "A damaged journal that was set aside; an empty path: dealt with.",
    "touched": "Values that must be set back: opening actions that nothing has closed.",
    "outcomes": "Starts with their ends, where these are known.",
}
"""A sentence on every table and view."""

# None on actions by job or cycle: these two made the intents of a cycle take 8.5 ms instead of 4.6,
# and a person who asks for one job's history can wait for a scan (0.1 s in 70 MB).
_INDEXES = (
    "CREATE INDEX cycles_wall ON cycles (wall)",
    "CREATE INDEX chapters ON cycles (id) WHERE chapter = id",
    "CREATE INDEX verdicts_cycle ON verdicts (cycle)",
    "CREATE INDEX openings ON actions (id) WHERE opening = id",
    "CREATE INDEX starts_cycle ON starts (cycle)",
    "CREATE INDEX starts_job ON starts (job, start)",
    "CREATE INDEX starts_start ON starts (start)",
    "CREATE INDEX ends_cycle ON ends (cycle)",
    "CREATE INDEX ends_start ON ends (start_id)",
)

_VIEWS = (
    "CREATE VIEW touched AS SELECT id, job, label, knob, before FROM actions"
    " WHERE opening = id AND id NOT IN (SELECT opening FROM closings)",
    "CREATE VIEW outcomes AS SELECT starts.*, ends.finish, ends.state FROM starts"
    " LEFT JOIN ends ON ends.start_id = starts.id",
)


def create(connection: sqlite3.Connection) -> None:
    """All tables of an empty file, in one transaction."""
    # Both must come before the first table; incremental: space is given back bit by bit.
    connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {VERSION}")
    for name, columns in TABLES.items():
        connection.execute(f"CREATE TABLE {name} ({columns}) STRICT")
        connection.execute(_trigger(name, "UPDATE"))
    for statement in (*_INDEXES, *_VIEWS):
        connection.execute(statement)
    forbid_deletes(connection)
    connection.execute("COMMIT")


def lacks(connection: sqlite3.Connection, table: str, column: str) -> bool:
    """Whether a journal was begun before there was such a column."""
    rows = connection.execute(f"PRAGMA table_info({table})").fetchall()
    return column not in {name for _, name, *_ in rows}


def add_later_columns(connection: sqlite3.Connection) -> None:
    """Rows of before say nothing there; nothing else of the file changes."""
    for table, column, kind in LATER:
        if lacks(connection, table, column):
            connection.execute(f"ALTER TABLE {table} ADD COLUMN {column} {kind}")


def forbid_deletes(connection: sqlite3.Connection) -> None:
    for name in TABLES:
        connection.execute(_trigger(name, "DELETE"))


def allow_deletes(connection: sqlite3.Connection) -> None:
    """Within a transaction that ends with `forbid_deletes`."""
    for name in TABLES:
        connection.execute(f"DROP TRIGGER {name}_delete")


def _trigger(table: str, verb: str) -> str:
    return (
        f"CREATE TRIGGER {table}_{verb.lower()} BEFORE {verb} ON {table} "
        "BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END"
    )


def uri_of(path: Path, how: str) -> str:
    return f"{path.absolute().as_uri()}?{how}"
