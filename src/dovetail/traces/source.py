"""Bytes of a trace or cluster file, plain or gzipped, with errors in words."""

from __future__ import annotations

import gzip
import math
import os
import stat
import zlib
from pathlib import Path
from typing import Protocol

from dovetail.domain.errors import ConfigError, TraceError

HEAD_BYTES = 65_536
"""What a format may look at to recognise its files."""

MAX_BYTES = 8 << 30
"""Of a plain file."""

MAX_UNPACKED = 1 << 30
"""Of a gzipped file, a pipe or a device, whose size nobody has seen: 2 MB of gzip can hold 2 GB."""

RAISED = "DOVETAIL_MAX_UNPACKED_GIB"
"""The environment variable that raises it: a number of GiB."""

PART = 16 << 20
"""Bytes read at a time."""

_GZIP = b"\x1f\x8b"
_BOM = b"\xef\xbb\xbf"


class Readable(Protocol):
    """A file that is open for reading."""

    def read(self, size: int, /) -> bytes: ...


def read_head(path: Path) -> bytes:
    """The first bytes of a file, unpacked; nothing for a folder."""
    if os.path.isdir(path):
        return b""
    return _read(path, HEAD_BYTES).removeprefix(_BOM)


def read_bytes(path: Path) -> bytes:
    """The whole file, unpacked."""
    if os.path.isdir(path):
        raise TraceError(f"{path}: is a folder; name the file in it")
    data = _read(path, None)
    if not data.strip():
        raise TraceError(f"{path}: the file is empty")
    return data.removeprefix(_BOM)


def read_text(path: Path) -> str:
    """The whole file as UTF-8 text."""
    data = read_bytes(path)
    try:
        return data.decode()
    except UnicodeDecodeError as problem:
        raise not_utf8(path, data, problem) from None


def not_utf8(path: Path, data: bytes, problem: UnicodeDecodeError) -> TraceError:
    """The error for text in another encoding, with the line that gave it away."""
    line = data.count(b"\n", 0, problem.start) + 1
    return TraceError(
        f"{path.name} line {line}: not UTF-8 text; convert it, for example with iconv -t utf-8"
    )


def first_line(head: bytes) -> str:
    """The first line of a file's head, without its end."""
    return head.split(b"\n", 1)[0].decode(errors="replace").strip()


def column_names(head: bytes, separator: str = ",") -> list[str]:
    """The names that the first line of a table gives."""
    return [name.strip().strip('"') for name in first_line(head).split(separator)]


def max_unpacked() -> int:
    """Bytes that a file may unpack to."""
    given = os.environ.get(RAISED)
    if given is None:
        return MAX_UNPACKED
    try:
        gib = float(given)
    except ValueError:
        gib = math.nan
    if not 0 < gib <= 1024:
        raise ConfigError(f"{RAISED} is {given!r}, expected a number of GiB such as 4")
    return int(gib * (1 << 30))


def _read(path: Path, head: int | None) -> bytes:
    """The first `head` bytes, or all there are within the bounds."""
    try:
        with path.open("rb") as file:
            packed = file.peek(2)[:2] == _GZIP
            if not packed and stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return _bounded(file, head, MAX_BYTES, f"{path}: larger than 8 GiB; split it first")
            most = max_unpacked()
            gib, verb = most / (1 << 30), "unpacks to" if packed else "gives"
            problem = (
                f"{path}: {verb} more than {gib:g} GiB; if that is right, raise the limit: "
                f"{RAISED}={math.ceil(4 * gib)}"
            )
            if not packed:
                return _bounded(file, head, most, problem)
            with gzip.open(file) as unpacked:
                return _bounded(unpacked, head, most, problem)
    except (EOFError, zlib.error, gzip.BadGzipFile) as problem:
        raise TraceError(f"{path}: broken gzip file ({problem}); fetch it again") from problem
    except OSError as problem:
        raise TraceError(f"{path}: {problem.strerror or problem}") from problem
    except ValueError as problem:  # a NUL character
        raise TraceError(f"{str(path)!r}: not the name of a file: {problem}") from None


def _bounded(file: Readable, head: int | None, most: int, problem: str) -> bytes:
    """Read in parts, so that no more than the bound is ever held."""
    parts, left = [], most if head is None else head
    while left > 0 and (part := file.read(min(left, PART))):
        parts.append(part)
        left -= len(part)
    if head is None and left == 0 and file.read(1):
        raise TraceError(problem)
    return b"".join(parts)
