"""Parquet from strangers, tried out in a child process: on some garbled files Polars aborts.

    frame, facts = read_parquet(data, "history.parquet")

A file is tried once. What passed is remembered by its hash in the user's cache, and what we write
ourselves is remembered at once, so that only the first reading of a foreign file pays for the
child: 0.4 s, most of it the import of Polars.
"""

from __future__ import annotations

import hashlib
import io
import os
import subprocess
import sys
from pathlib import Path

import polars as pl

from dovetail.compiled.cache import user_cache
from dovetail.domain.errors import TraceError

FILE = "readable-parquet"
"""In the cache: a line for each file that was read well."""

MOST_LINES = 2000
SECONDS = 60.0
"""For a trial, and as much again for every 50 MB: a garbled count can make Polars loop."""

CHILD = """
import io, resource, sys
data = sys.stdin.buffer.read()
most = (8 << 30) + 64 * len(data)
_, hard = resource.getrlimit(resource.RLIMIT_AS)
most = most if hard == resource.RLIM_INFINITY else min(most, hard)
resource.setrlimit(resource.RLIMIT_AS, (most, hard))
import polars as pl
try:
    pl.read_parquet_metadata(io.BytesIO(data))
    frame = pl.read_parquet(io.BytesIO(data))
    for column in frame.iter_columns():
        column.null_count(), column.cast(pl.String, strict=False).str.len_chars().sum()
except BaseException as problem:
    print(str(problem).partition("\\n")[0])
    sys.exit(3)
"""
"""Reads all of it and touches every value; memory is limited, so that a garbled length ends it."""

REFUSED = 3


def read_parquet(data: bytes, file: str) -> tuple[pl.DataFrame, dict[str, str]]:
    """The table and the metadata of a Parquet file, or an error in words."""
    name = _hash(data)
    if name not in _remembered():
        _try_out(data, file)
        _remember(name)
    try:
        facts = pl.read_parquet_metadata(io.BytesIO(data))
        return pl.read_parquet(io.BytesIO(data)), facts
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as problem:
        raise _broken(file, str(problem).split("\n", 1)[0]) from None


def remember_file(path: Path) -> None:
    """What was just written by Polars need not be tried out."""
    if path.is_file():
        _remember(_hash(path.read_bytes()))


def _try_out(data: bytes, file: str) -> None:
    try:
        found = subprocess.run(
            [sys.executable, "-I", "-c", CHILD],
            input=data,
            capture_output=True,
            timeout=SECONDS * (1 + len(data) / 50e6),
            check=False,
        )
    except subprocess.TimeoutExpired as problem:
        raise _broken(file, f"not read within {problem.timeout:.0f} s") from None
    except OSError as problem:
        raise TraceError(f"{file}: cannot start a process to try it out: {problem}") from problem
    if found.returncode == REFUSED:
        raise _broken(file, found.stdout.decode(errors="replace").strip())
    if found.returncode:
        raise _broken(file, "the Parquet reader crashed on it")


def _broken(file: str, words: str) -> TraceError:
    return TraceError(f"{file}: truncated or broken Parquet ({words}); fetch or export it again")


def _hash(data: bytes) -> str:
    """Of the content, and of the reader: another version may read it differently."""
    return f"{pl.__version__} {hashlib.sha256(data).hexdigest()}"


def _remembered() -> list[str]:
    try:
        return (user_cache() / FILE).read_text(encoding="ascii").splitlines()
    except (OSError, ValueError):
        return []


def _remember(name: str) -> None:
    """Add a line; a cache that cannot be written costs time only."""
    path, known = user_cache() / FILE, _remembered()
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if len(known) >= MOST_LINES:
            path.write_text("".join(f"{line}\n" for line in known[MOST_LINES // 2 :]))
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        with os.fdopen(handle, "a", encoding="ascii") as file:
            file.write(f"{name}\n")
    except OSError:
        return
