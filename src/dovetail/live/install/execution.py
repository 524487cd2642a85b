"""Carries an installation's plan out: whole files only, copies of what was there, no surprises."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from dovetail.domain.errors import ConfigError
from dovetail.live.install.plan import FileChange, InstallRefused


def carry_out(changes: Sequence[FileChange], stamp: str) -> tuple[Path, ...]:
    """Make the changes in order; returns the copies of files that are written over."""
    for change in changes:
        _refuse_if_changed(change)
    copies = []
    try:
        for change in changes:
            if change.before is not None and change.after is not None:
                copies.append(_keep_copy(change, stamp))
            if change.after is None:
                change.target.unlink(missing_ok=True)
            else:
                _write(change.target, change.after, change.mode)
    except OSError as problem:
        raise ConfigError(
            f"{problem.filename}: cannot write: {problem.strerror}; run it as root. Undo what was "
            "done so far with `dovetail live install --uninstall --yes`"
        ) from problem
    return tuple(copies)


def _refuse_if_changed(change: FileChange) -> None:
    now = _bytes_of(change.target)
    if now != (None if change.before is None else _bytes(change.before)):
        raise InstallRefused(
            f"{change.target}: changed since it was shown; nothing was done, run this again"
        )


def _keep_copy(change: FileChange, stamp: str) -> Path:
    assert change.before is not None
    copy = change.target.with_name(f"{change.target.name}.before-dovetail-{stamp}")
    _write(copy, change.before, change.target.stat().st_mode & 0o777)
    return copy


def _write(path: Path, text: str, mode: int) -> None:
    """Fill a file beside the target, then put it in its place, with the owner it had."""
    path.parent.mkdir(parents=True, exist_ok=True)
    there = path.stat() if path.exists() else None
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(_bytes(text))
            file.flush()
            os.fchmod(file.fileno(), mode if there is None else there.st_mode & 0o777)
            if there is not None and os.geteuid() == 0:
                os.fchown(file.fileno(), there.st_uid, there.st_gid)
            os.fsync(file.fileno())
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def _bytes_of(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
