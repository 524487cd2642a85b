"""What can go wrong with a journal, in words that say what to do next."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dovetail.domain.errors import DovetailError
from dovetail.files import Untrusted


class JournalError(DovetailError):
    """Nothing can be recorded or read; whoever wanted to act must not."""


class JournalBusy(JournalError):  # noqa: N818 - reads as what happened
    """Another daemon has it."""


_REMEDIES = (
    ("full", "free some space, or lower journal.max_mb"),
    ("readonly", "let the daemon's user write the file and its folder"),
    ("read-only", "let the daemon's user write the file and its folder"),
    ("locked", "another program holds it: close it (a sqlite3 shell, a backup)"),
    ("malformed", "it is damaged: restart the daemon, which sets it aside and begins a new one"),
    ("not a database", "it is damaged: restart the daemon, which sets it aside"),
    ("unable to open", "see that its folder exists and the user may enter and write it"),
    ("permission denied", "run it as the daemon's user or as root"),
    ("disk i/o", "see that the disk is sound and has space"),
)


@contextmanager
def in_words(path: Path) -> Iterator[None]:
    """Whatever SQLite or the system says, as a JournalError."""
    try:
        yield
    except Untrusted as problem:
        raise JournalError(str(problem)) from None
    except (sqlite3.Error, OSError) as problem:
        said = str(problem)
        found = (remedy for sign, remedy in _REMEDIES if sign in said.lower())
        raise JournalError(f"{path}: {said}; {next(found, 'nothing was recorded')}") from problem
