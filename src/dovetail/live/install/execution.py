"""Carries an installation's plan out: whole files, each step checked, all of it or nothing.

Files are written by descriptor into folders that nobody but root and their owner can write, and no
link is followed but root's own: see `dovetail.files`. Whatever fails, what was done is undone.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from dovetail.domain.errors import ConfigError
from dovetail.files import Folder, Untrusted
from dovetail.live.install.plan import FileChange, InstallRefused

Check = Callable[[FileChange], str]
"""What is asked after a file was written: how it was checked, in words; ConfigError: it is bad."""


@dataclass(frozen=True, slots=True)
class DoneStep:
    """One file, and how it was made sure of."""

    path: Path
    said: str  # such as: written, read back the same
    copy: Path | None = None  # of what was there before


def no_check(change: FileChange) -> str:
    return ""


def carry_out(
    changes: Sequence[FileChange], stamp: str, check: Check = no_check
) -> tuple[DoneStep, ...]:
    """Make the changes in order, each checked; where one fails, put all of them back."""
    for change in changes:
        _refuse_if_changed(change)
    done: list[FileChange] = []
    steps: list[DoneStep] = []
    try:
        for change in changes:
            done.append(change)
            steps.append(_carry_out(change, stamp, check))
    except (OSError, ConfigError) as problem:
        _put_back(done)
        said = problem if isinstance(problem, ConfigError | Untrusted) else _words(problem)
        raise ConfigError(f"{said}. Every file is as it was") from problem
    return tuple(steps)


def _carry_out(change: FileChange, stamp: str, check: Check) -> DoneStep:
    copy = None
    if change.after is None:
        _write(change.target, None, change.mode)
        said = "removed, and it is gone"
    else:
        if change.before is not None:
            copy = change.target.with_name(f"{change.target.name}.before-dovetail-{stamp}")
            _write(copy, _bytes(change.before), _mode_of(change.target, change.mode))
        _write(change.target, _bytes(change.after), change.mode)
        said = "written, read back the same"
    if _read(change.target) != (None if change.after is None else _bytes(change.after)):
        raise ConfigError(f"{change.target}: is not what was written: is the disk full?")
    more = check(change)
    return DoneStep(change.path, f"{said}; {more}" if more else said, copy)


def _put_back(changes: Sequence[FileChange]) -> None:
    """What was there before, the last first; a file that cannot be put back is left as it is."""
    for change in reversed(changes):
        with suppress(OSError):
            _write(change.target, None if change.before is None else _bytes(change.before), 0o644)


def _refuse_if_changed(change: FileChange) -> None:
    try:
        now = _read(change.target)
    except Untrusted as problem:
        raise InstallRefused(f"{problem}; nothing was done") from None
    if now != (None if change.before is None else _bytes(change.before)):
        raise InstallRefused(
            f"{change.target}: changed since it was shown; nothing was done, run this again"
        )


def _read(path: Path) -> bytes | None:
    try:
        with Folder.of_its_owner(path.parent) as folder:
            return folder.read(path.name)
    except FileNotFoundError:
        return None


def _write(path: Path, content: bytes | None, mode: int) -> None:
    """Put a file there with owner and mode as it had them, or take it away."""
    _make_parents(path.parent)
    with Folder.of_its_owner(path.parent) as folder:
        if content is None:
            folder.remove(path.name)
            return
        there = folder.status(path.name)
        if there is None:
            folder.write(path.name, content, mode)
        else:
            owner = (there.st_uid, there.st_gid) if os.geteuid() == 0 else None
            folder.write(path.name, content, there.st_mode & 0o777, owner)


def _make_parents(folder: Path) -> None:
    """Folders that are missing, open to all for reading; those that are there stay as they are."""
    if not folder.exists():
        Folder.make(folder, 0o755).close()


def _mode_of(path: Path, otherwise: int) -> int:
    return path.stat().st_mode & 0o777 if path.exists() else otherwise


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _words(problem: OSError) -> str:
    return f"{problem.filename}: cannot write: {problem.strerror}; run it as root"
