"""Opening a journal for writing: one daemon only, a sound file, a damaged one set aside."""

from __future__ import annotations

import fcntl
import os
import sqlite3
import time
from pathlib import Path
from typing import NamedTuple

from dovetail.files import Folder
from dovetail.files.trust import check_entry
from dovetail.live.journal.errors import JournalBusy, JournalError, in_words
from dovetail.live.journal.schema import (
    APPLICATION,
    VERSION,
    add_later_columns,
    create,
    uri_of,
)

MAGIC = b"SQLite format 3\0"
BUSY_SECONDS = 1.0
"""How long another program may hold the file; longer, and the cycle goes on without acting."""

WAL_BYTES = 4 * 1024 * 1024
"""The log beside the file is cut back to this; SQLite itself takes it in at about that size."""


class Opened(NamedTuple):
    connection: sqlite3.Connection
    lock: int  # file descriptor; the system lets go of the lock when the process ends, anyhow
    set_aside: Path | None  # where a damaged journal was put


def open_for_writing(path: Path) -> Opened:
    """The journal at `path`, made if there is none."""
    with in_words(path), Folder.open(path.parent) as folder:
        lock = _lock(path, folder)
        _refuse_planted(path, folder)
    try:
        with in_words(path):
            set_aside = None
            if not path.exists():
                _begin(path, "")
            elif _damaged(path):
                set_aside = _replace(path)
            return Opened(_connect(path), lock, set_aside)
    except BaseException:
        os.close(lock)
        raise


def _refuse_planted(path: Path, folder: Folder) -> None:
    """Nobody but root and we can write the folder; what lies there already may be older."""
    for suffix in ("", "-wal", "-shm"):
        status = folder.status(path.name + suffix)
        if status is not None:
            check_entry(path.with_name(path.name + suffix), status, folder.owner)


def _lock(path: Path, folder: Folder) -> int:
    """An exclusive lock on a file of its own, so that SQLite's locks are left to SQLite."""
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    lock = os.open(path.name + ".lock", flags, 0o640, dir_fd=folder.descriptor)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.read(lock, 20).decode(errors="replace").strip() or "unknown"
        os.close(lock)
        raise JournalBusy(
            f"{path}: another daemon has it (process {holder}); stop that one first"
        ) from None
    os.ftruncate(lock, 0)
    os.pwrite(lock, f"{os.getpid()}\n".encode(), 0)
    return lock


def _connect(path: Path) -> sqlite3.Connection:
    connection = _raw(path)
    try:
        _refuse_strangers(connection, path)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute(f"PRAGMA journal_size_limit = {WAL_BYTES}")
        connection.execute("PRAGMA temp_store = MEMORY")
        add_later_columns(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _raw(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(
        uri_of(path, "mode=rw"), uri=True, isolation_level=None, timeout=BUSY_SECONDS
    )


def _begin(path: Path, recovered_from: str) -> None:
    """A new journal, under another name until it is whole: a crash leaves no half of one."""
    part = path.with_name(path.name + ".new")
    for suffix in ("", "-wal", "-shm"):
        part.with_name(part.name + suffix).unlink(missing_ok=True)
    # Made here, not by SQLite: names of users are nobody else's business.
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    os.close(os.open(part, flags, 0o640))
    connection = _raw(part)
    try:
        create(connection)
        if recovered_from:
            connection.execute(
                "INSERT INTO recoveries VALUES (NULL, 0, ?, ?)", (time.time(), recovered_from)
            )
    finally:
        connection.close()  # takes the log beside the file in, and removes it
    part.replace(path)


def _refuse_strangers(connection: sqlite3.Connection, path: Path) -> None:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION:
        raise JournalError(f"{path}: a database, but no journal of Dovetail; name another file")
    if version != VERSION:
        raise JournalError(
            f"{path}: a journal of version {version}, this Dovetail reads {VERSION}; "
            "update Dovetail, or move the file away"
        )


def _damaged(path: Path) -> bool:
    """Whether what is there cannot be gone on with. Looks at every page: half a second for 70 MB.

    Finds what breaks the structure (a truncated file, an overwritten page); SQLite has no check
    sums of rows, so that a changed letter inside a text goes unseen.
    """
    if not path.exists():
        return False
    with path.open("rb") as file:
        if file.read(len(MAGIC)) != MAGIC:
            return True
    connection = sqlite3.connect(uri_of(path, "mode=rw"), uri=True, timeout=BUSY_SECONDS)
    try:
        answer = connection.execute("PRAGMA quick_check(1)").fetchone()
        return bool(answer != ("ok",))
    except sqlite3.OperationalError:
        raise  # locked, no permission: not a matter of what is in it
    except sqlite3.DatabaseError:
        return True
    finally:
        connection.close()


def _replace(path: Path) -> Path:
    """Keep the damaged file and its log under a name that is free, and begin a new journal.

    That there was an old one is written in the new one before it takes the old one's name.
    """
    stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime())
    aside = path.with_name(f"{path.name}.damaged-{stamp}")
    number = 1
    while aside.exists():
        number += 1
        aside = path.with_name(f"{path.name}.damaged-{stamp}-{number}")
    for suffix in ("-wal", "-shm"):  # SQLite would take the old log for the new file's
        beside = path.with_name(path.name + suffix)
        if beside.exists():
            beside.rename(aside.with_name(aside.name + suffix))
    os.link(path, aside)
    _begin(path, str(aside))
    return aside
