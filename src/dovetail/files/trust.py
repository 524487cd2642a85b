"""Opens a folder by descriptor, from the root of the file system down, and looks at each step.

Every folder on the way must belong to root or to the account that asks, and others must not be able
to write it; a shared folder with the sticky bit, such as /tmp, may be passed, because nobody there
can replace what belongs to another. Links are not followed, except those that root made in a folder
that only root can write (`/var/run`, or a `/home` on another disk): they are the system's layout.
What was checked so cannot be exchanged afterwards by anybody but root and the account itself.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

ROOT = 0
# O_PATH, where there is one: folders that may be passed through but not listed can be opened so.
_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_WRITABLE = stat.S_IWGRP | stat.S_IWOTH
_OPEN_TO_OTHERS = 0o077
_MOST_LINKS = 8

Check = Callable[[Path, os.stat_result, int], None]
"""What the last folder of a path is asked, with its path, status and the account's number."""


class Untrusted(PermissionError):  # noqa: N818 - reads as what it is
    """Somebody else could have put something there; the message says what to do."""


def open_folder(path: Path, owner: int | None = None) -> int:
    """A descriptor of the folder; Untrusted where somebody else could write it or replace it.

    owner: the account that may own it besides root; None: our own.
    """
    return _open(path, os.geteuid() if owner is None else owner, None, _check_closed)


def make_folder(path: Path, mode: int = 0o750) -> int:
    """The same; what is missing of the path is made, with these permissions."""
    return _open(path, os.geteuid(), mode, _check_closed)


def make_private_folder(path: Path) -> int:
    """The same, for what is run: it must be ours, not root's, and closed to everybody else."""
    return _open(path, os.geteuid(), 0o700, _check_private)


def check_file(path: Path, owner: int | None = None) -> None:
    """Refuse a file that somebody else could have written, in a folder that nobody else can."""
    owner = os.geteuid() if owner is None else owner
    folder = open_folder(path.parent, owner)
    try:
        check_entry(path, os.stat(path.name, dir_fd=folder, follow_symlinks=False), owner)
    finally:
        os.close(folder)


def behind_system_links(path: Path, owner: int) -> Path:
    """Where the file lies in truth, as far as root's own links lead; Untrusted on the way."""
    for _ in range(_MOST_LINKS):
        folder = open_folder(path.parent, owner)
        try:
            target = _system_link(folder, path.name)
        finally:
            os.close(folder)
        if target is None:
            return path
        path = Path(os.path.normpath(path.parent / target))
    raise Untrusted(f"{path}: too many links on the way")


def check_entry(path: Path, status: os.stat_result, owner: int) -> None:
    """Refuse what is no plain file, belongs to somebody else, or can be written by others."""
    if not stat.S_ISREG(status.st_mode):
        raise Untrusted(f"{path}: no plain file; put a file there, not a link or a pipe")
    _check_owner(path, status, owner)
    if status.st_mode & _WRITABLE:
        raise Untrusted(f"{path}: others may write it; chmod go-w {path}")


def _open(path: Path, owner: int, make: int | None, check: Check) -> int:
    descriptor = _walk(path, owner, make)
    try:
        check(path, os.fstat(descriptor), owner)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _walk(path: Path, owner: int, make: int | None) -> int:
    descriptor = os.open("/", _FOLDER)
    seen = Path("/")
    rest = list(reversed(_parts(path)))
    links = 0
    try:
        while rest:
            _check_step(seen, os.fstat(descriptor), owner)
            name = rest.pop()
            target = _system_link(descriptor, name)
            if target is not None:
                links += 1
                if links > _MOST_LINKS:
                    raise Untrusted(f"{path}: too many links on the way")
                rest += reversed(_parts(seen / target))
                os.close(descriptor)
                descriptor, seen = os.open("/", _FOLDER), Path("/")
                continue
            below = _enter(descriptor, name, seen / name, make)
            os.close(descriptor)
            descriptor, seen = below, seen / name
            # Also inside a shared folder: there the owner is all that protects it.
            _check_owner(seen, os.fstat(descriptor), owner)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _parts(path: Path) -> Sequence[str]:
    """Names from the root on; `..` is taken out as text, since no link that counts is followed."""
    return Path(os.path.normpath(path.absolute())).parts[1:]


def _enter(folder: int, name: str, path: Path, make: int | None) -> int:
    if make is not None:
        with suppress(FileExistsError):
            os.mkdir(name, make, dir_fd=folder)
    try:
        return os.open(name, _FOLDER, dir_fd=folder)
    except OSError as problem:
        if problem.errno in (errno.ENOTDIR, errno.ELOOP):
            raise Untrusted(f"{path}: a link or a file; put a folder there") from None
        raise OSError(problem.errno, problem.strerror, str(path)) from None


def _system_link(folder: int, name: str) -> str | None:
    """Where a link leads that root made in a folder that only root can write; None: no such."""
    try:
        link = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return None
    around = os.fstat(folder)
    of_system = link.st_uid == ROOT and around.st_uid == ROOT and not around.st_mode & _WRITABLE
    if not (stat.S_ISLNK(link.st_mode) and of_system):
        return None
    return os.readlink(name, dir_fd=folder)


def _check_step(path: Path, status: os.stat_result, owner: int) -> None:
    """A folder on the way."""
    _check_owner(path, status, owner)
    if status.st_mode & _WRITABLE and not status.st_mode & stat.S_ISVTX:
        raise Untrusted(f"{path}: others may write it; chmod go-w {path}")


def _check_closed(path: Path, status: os.stat_result, owner: int) -> None:
    _check_owner(path, status, owner)
    if status.st_mode & _WRITABLE:
        raise Untrusted(
            f"{path}: others may write it, and could leave anything there; chmod go-w {path}"
        )


def _check_private(path: Path, status: os.stat_result, owner: int) -> None:
    if status.st_uid != owner or status.st_mode & _OPEN_TO_OTHERS:
        raise Untrusted(
            f"{path}: expected to belong to user number {owner} and to be closed to all others; "
            f"chown {owner} {path} && chmod 700 {path}"
        )


def _check_owner(path: Path, status: os.stat_result, owner: int) -> None:
    if status.st_uid not in (ROOT, owner):
        raise Untrusted(
            f"{path}: belongs to user number {status.st_uid}, expected {owner} or root; "
            f"chown {owner} {path}"
        )
