"""Bytes of a trace or cluster file, plain or gzipped, with errors in words."""

from __future__ import annotations

import gzip
import io
import os
import zlib
from pathlib import Path

from dovetail.domain.errors import TraceError

HEAD_BYTES = 65_536
"""What a format may look at to recognise its files."""

MAX_BYTES = 8 << 30
"""A gzipped file that unpacks to more than this is a mistake or an attack."""

_GZIP = b"\x1f\x8b"
_BOM = b"\xef\xbb\xbf"


def read_head(path: Path) -> bytes:
    """The first bytes of a file, unpacked; nothing for a folder."""
    if os.path.isdir(path):
        return b""
    return _read(path, HEAD_BYTES).removeprefix(_BOM)


def read_bytes(path: Path) -> bytes:
    """The whole file, unpacked."""
    if os.path.isdir(path):
        raise TraceError(f"{path}: is a folder; name the file in it")
    data = _read(path, MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise TraceError(f"{path}: more than {MAX_BYTES >> 30} GiB unpacked; split it first")
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


def _read(path: Path, at_most: int) -> bytes:
    try:
        with path.open("rb") as file:
            if file.peek(2)[:2] != _GZIP:
                return file.read(at_most)
            return _unpack(file, at_most)
    except (EOFError, zlib.error, gzip.BadGzipFile) as problem:
        raise TraceError(f"{path}: broken gzip file ({problem}); fetch it again") from problem
    except OSError as problem:
        raise TraceError(f"{path}: {problem.strerror or problem}") from problem


def _unpack(file: io.BufferedReader, at_most: int) -> bytes:
    with gzip.open(file) as packed:
        return packed.read(at_most)
