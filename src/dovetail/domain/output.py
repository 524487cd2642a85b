"""The one way in which files are written: whole or not there at all, and through links.

    write_whole(path, lambda part: part.write_text(text, encoding="utf-8"))

    with replacing(path) as part:
        part.write_text(text, encoding="utf-8")

A regular file is filled beside the real one, behind all links, and renamed into its place. What
cannot be replaced (a device, a FIFO, /dev/stdout) is opened and written to.
"""

from __future__ import annotations

import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from dovetail.domain.errors import OutputError

MOST_LINKS = 40
"""As many as Linux follows."""


def write_whole(path: Path, write: Callable[[Path], object]) -> None:
    """Let `write` fill a file; the target has all of it, or what it had before."""
    with replacing(path) as part:
        write(part)


def make_folder(folder: Path) -> None:
    """Make a folder and those above it, unless it is there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as problem:  # ValueError: a NUL character
        why = getattr(problem, "strerror", None) or problem
        raise OutputError(f"{folder}: cannot make this folder: {why}") from problem


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """An empty file to be filled, which becomes the target when the block ends well."""
    part = None
    try:
        target = real_target(path)
        folder = target.parent if target else None
        part = _empty_file(folder, path.name)
        yield part
        if target is None:
            _pour(part, path)
        else:
            _take_mode(part, target)
            part.replace(target)
    except OSError as problem:
        raise OutputError(f"{path}: cannot write: {problem.strerror or problem}") from problem
    finally:
        if part is not None:
            part.unlink(missing_ok=True)


def real_target(path: Path) -> Path | None:
    """The file behind all links, there or not; None: something that is written to, not replaced.

    Links in /proc stand for files that somebody has open: replacing one would lose its holder.
    """
    if "\0" in str(path):
        raise OSError("a NUL character in its name")
    current = Path(os.path.abspath(path))
    for _ in range(MOST_LINKS):
        folder = current.parent.resolve()
        current = folder / current.name
        if folder.is_relative_to("/proc"):
            return None
        if not current.is_symlink():
            return current if _replaceable(current) else None
        current = folder / current.readlink()
    raise OSError(f"more than {MOST_LINKS} links one after the other")


def _replaceable(path: Path) -> bool:
    return not path.exists() or stat.S_ISREG(path.stat().st_mode)


def _empty_file(folder: Path | None, name: str) -> Path:
    handle, part = tempfile.mkstemp(dir=folder, prefix=f".{name[:100]}.", suffix=".part")
    os.close(handle)
    return Path(part)


def _take_mode(part: Path, target: Path) -> None:
    """The rights of the file that is replaced, or those that a new file would have."""
    if target.exists():
        mode = stat.S_IMODE(target.stat().st_mode)
    else:
        mask = os.umask(0)
        os.umask(mask)
        mode = 0o666 & ~mask
    part.chmod(mode)


def _pour(part: Path, path: Path) -> None:
    sys.stdout.flush()  # /dev/stdout: what was printed before comes first
    # Appended: a terminal or pipe does not care, and a log behind /dev/stdout keeps its lines.
    with part.open("rb") as source, os.fdopen(os.open(path, os.O_WRONLY | os.O_APPEND), "wb") as to:
        shutil.copyfileobj(source, to)
