"""The table that site_factor/dovetail reads inside slurmctld: a header and a row for each job.

>>> table = FactorTable([FactorRow(17, 120), FactorRow(3, -40, held=60)], written=1000, seconds=300)
>>> content = encode(table)
>>> len(content), [row.job for row in decode(content).rows]
(72, [3, 17])

`source/factor_table.h` has the same layout in C. The file is replaced as a whole, never written in
place; what the reader cannot trust it takes as no table at all, and every job's factor as 0.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dovetail.domain.errors import ConfigError
from dovetail.files import Folder

MAGIC, VERSION = b"DOVETAIL", 1
MOST_ROWS = 131_072
MOST_FACTOR = 2_147_483_645
MOST_SECONDS = 86_400

_HEADER = np.dtype(
    [("magic", "S8"), ("version", "<u4"), ("rows", "<u4"), ("written", "<i8"), ("seconds", "<u4"),
     ("default", "<i4"), ("reserved", "<u4"), ("checksum", "<u4")]
)  # fmt: skip
_ROW = np.dtype([("job", "<u4"), ("factor", "<i4"), ("held", "<i4"), ("seconds", "<u4")])
_CHECKSUM = _HEADER.itemsize - 4


class BadTable(ConfigError):  # noqa: N818 - reads as what it is
    """A table that the plug-in would not take, and why."""


class FactorRow(NamedTuple):
    """One job of the table."""

    job: int  # LiveJob.id: Slurm's number of the record
    factor: int  # that it shall have
    held: int = 0  # that it has of us, and the plug-in may therefore change
    seconds: int = MOST_SECONDS  # for which the row holds; the table may end sooner


class FactorTable(NamedTuple):
    """All rows, since when and for how long they hold, and what new jobs get."""

    rows: Sequence[FactorRow]
    written: int  # seconds since 1970
    seconds: int  # from then on
    default: int = 0  # of new jobs that have no row


def encode(table: FactorTable) -> bytes:
    """The file's bytes; BadTable for values that the plug-in would refuse."""
    rows = _numbers(table.rows)
    rows = rows[np.argsort(rows[:, 0], kind="stable")]
    _check(table, rows)
    packed = np.empty(len(rows), _ROW)
    for place, name in enumerate(FactorRow._fields):
        packed[name] = rows[:, place]
    head = np.array(
        (MAGIC, VERSION, len(rows), table.written, table.seconds, table.default, 0, 0), _HEADER
    )
    body = packed.tobytes()
    checksum = zlib.crc32(body, zlib.crc32(head.tobytes()[:_CHECKSUM]))
    head["checksum"] = checksum
    return head.tobytes() + body


def decode(content: bytes) -> FactorTable:
    """The table in these bytes, expired or not; BadTable where the plug-in would say so."""
    if len(content) < _HEADER.itemsize:
        raise BadTable("the table is too short")
    head = np.frombuffer(content, _HEADER, count=1)[0]
    body = content[_HEADER.itemsize :]
    if head["magic"] != MAGIC or head["version"] != VERSION or head["reserved"]:
        raise BadTable("it is no table of Dovetail's, or of another version")
    if len(body) != int(head["rows"]) * _ROW.itemsize:
        raise BadTable("the table's size does not fit its rows")
    if zlib.crc32(body, zlib.crc32(content[:_CHECKSUM])) != head["checksum"]:
        raise BadTable("the table's checksum is wrong")
    rows = [FactorRow(*row) for row in np.frombuffer(body, _ROW).tolist()]
    table = FactorTable(rows, int(head["written"]), int(head["seconds"]), int(head["default"]))
    _check(table, _numbers(rows))
    return table


def _numbers(rows: Sequence[FactorRow]) -> NDArray[np.int64]:
    """A line for each row: four times as fast as an array of tuples."""
    try:
        flat = np.fromiter(chain.from_iterable(rows), np.int64, 4 * len(rows))
    except OverflowError:
        raise BadTable("a number of the table is out of all ranges") from None
    return flat.reshape(-1, 4)


def _check(table: FactorTable, rows: NDArray[np.int64]) -> None:
    jobs, factors, seconds = rows[:, 0], rows[:, 1:3], rows[:, 3]
    if len(rows) > MOST_ROWS:
        raise BadTable(f"{len(rows):,} rows are more than {MOST_ROWS:,}")
    if len(rows) and (jobs[0] < 1 or jobs[-1] >= 2**32 or (np.diff(jobs) <= 0).any()):
        raise BadTable("the table's rows are not in order, or two are for one job")
    if (np.abs(factors) > MOST_FACTOR).any() or abs(table.default) > MOST_FACTOR:
        raise BadTable(f"a factor is not within ±{MOST_FACTOR:,}")
    if not 0 <= table.seconds <= MOST_SECONDS or table.written < 0:
        raise BadTable(f"a table may hold for {MOST_SECONDS:,} seconds")
    if len(rows) and (seconds.min() < 0 or seconds.max() >= 2**32):
        raise BadTable("a row's time is out of range")


def write_table(path: Path, table: FactorTable) -> None:
    """Replace the file as a whole; readable by Slurm's user whatever the umask."""
    content = encode(table)
    with Folder.open(path.parent) as folder:
        folder.write(path.name, content, 0o644)


def read_table(path: Path) -> FactorTable | None:
    """What is there now of ours; None: no file, or one that nobody would take."""
    with suppress(OSError, BadTable), Folder.open(path.parent) as folder:
        return decode(folder.read(path.name))
    return None


def remove_table(path: Path) -> bool:
    """Give every job back to Slurm; False: there was no table."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        return False
    return True
