"""Tables of text as the formats see them: columns on demand as numbers, times or names.

A cell that cannot be read is kept as a fault of its line, so that one bad row among a million
is named (or dropped) by its line number and costs nothing otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import polars as pl

from dovetail.domain.errors import TraceError
from dovetail.traces.source import not_utf8, read_bytes
from dovetail.traces.table import FAULTS, NAMES, NUMBERS, RawTable
from dovetail.traces.times import epoch_seconds

MISSING = ("", "none", "null", "na", "n/a", "(null)", "unknown", "\\n")
"""What files write where they know nothing, in lower case."""

OVERFLOW = "more fields than expected"
"""The column that catches what is too much on a line."""


class Cells:
    """Rows of cells with the line that each came from."""

    def __init__(self, file: str, frame: pl.DataFrame, unit: str = "line") -> None:
        self.file, self.frame, self.unit = file, frame, unit
        self._faults: list[pl.DataFrame] = []

    def __contains__(self, column: str) -> bool:
        return column in self.frame.columns

    def require(self, *columns: str) -> None:
        """Refuse a file that lacks one of these columns."""
        for column in columns:
            if column not in self:
                has = ", ".join(c for c in self.frame.columns if c not in ("line", OVERFLOW))
                raise TraceError(f"{self.file}: no column {column}; it has {has}")

    def names(self, column: str) -> pl.Series:
        """Text, null where missing; numbers that serve as names lose their `.0`."""
        series = self._column(column)
        if series.dtype.is_float():
            whole = series.cast(pl.Int64, strict=False)
            series = whole if (whole == series).all() else series
        return _known(series.cast(pl.String, strict=False), (*MISSING, "nan"))

    def numbers(self, column: str) -> pl.Series:
        """Float64, null where missing."""
        series = self._column(column)
        if series.dtype.is_numeric() or series.dtype == pl.Boolean:
            return series.cast(pl.Float64)
        read = _known(series.cast(pl.String, strict=False))
        return self._read(column, read, read.cast(pl.Float64, strict=False), "a number")

    def times(
        self,
        column: str,
        reader: Callable[[pl.Series], pl.Series] = epoch_seconds,
        expected: str = "a time such as 2020-06-09 18:41:01 or epoch seconds",
    ) -> pl.Series:
        """Seconds since 1970 (or on the trace's own clock), null where missing."""
        if column not in self:
            return self._column(column).cast(pl.Float64)
        read = _known(self._column(column))
        return self._read(column, read, reader(read), expected)

    def table(
        self, columns: Mapping[str, pl.Series | pl.Expr], labels: Mapping[str, str]
    ) -> RawTable:
        """The rows with canonical columns; whatever else is given stays as a helper column."""
        self._check_overflow()
        frame = self.frame.select(pl.col("line").cast(pl.Int64)).with_columns(
            **{name: column for name, column in columns.items() if isinstance(column, pl.Series)}
        )
        frame = frame.with_columns(
            **{name: column for name, column in columns.items() if isinstance(column, pl.Expr)}
        )
        frame = frame.with_columns(
            *(pl.col(name).cast(pl.Float64) for name in NUMBERS if name in frame.columns),
            *(pl.col(name).cast(pl.String) for name in ("id", *NAMES) if name in frame.columns),
        )
        if "gpu_type" in frame.columns:
            frame = frame.with_columns(pl.col("gpu_type").str.to_lowercase())
        table = RawTable(self.file, frame, dict(labels), self.faults(), self.unit)
        _spread_evenly(table)
        return table

    def faults(self) -> pl.DataFrame:
        """Cells that could not be read so far: line and problem."""
        return pl.concat([pl.DataFrame(schema=FAULTS), *self._faults])

    def _column(self, column: str) -> pl.Series:
        if column not in self:
            return pl.Series(column, [None], pl.String).new_from_index(0, len(self.frame))
        return self.frame[column]

    def _read(self, column: str, text: pl.Series, read: pl.Series, expected: str) -> pl.Series:
        unread = read.is_null() & text.is_not_null()
        if unread.any():
            shown = "'" + text.filter(unread).str.slice(0, 40) + "'"
            self._fault(unread, f"{column} is " + shown + f", expected {expected}")
        return read

    def _check_overflow(self) -> None:
        if OVERFLOW in self:
            over = self.frame[OVERFLOW].is_not_null()
            self._fault(over, pl.Series([f"has {OVERFLOW}"]).new_from_index(0, int(over.sum())))

    def _fault(self, rows: pl.Series, problem: pl.Series) -> None:
        lines = self.frame["line"].filter(rows).cast(pl.Int64)
        self._faults.append(pl.DataFrame({"line": lines, "problem": problem}, schema=FAULTS))


def read_csv(
    path: Path, separator: str = ",", names: Sequence[str] = (), quote: str | None = '"'
) -> Cells:
    """Cells of a text table; `names` for one without a header line."""
    data = read_bytes(path)
    header, _, rest = (b"", b"", data) if names else data.partition(b"\n")
    columns = names or _header(path, header, separator)
    first = separator.join([*columns, OVERFLOW]).encode()
    try:
        frame = pl.read_csv(
            first + b"\n" + rest,
            separator=separator,
            quote_char=quote,
            infer_schema=False,
            truncate_ragged_lines=True,
            row_index_name="line",
            row_index_offset=1 if names else 2,
        )
    except pl.exceptions.PolarsError as problem:
        raise _unreadable(path, data, problem) from None
    blank = pl.all_horizontal(pl.exclude("line").is_null())
    return Cells(path.name, frame.filter(~blank))


def read_lines(path: Path) -> Cells:
    """The lines of a text file as one column, `text`, without blank ones."""
    # A separator that no text file has makes Polars' fast CSV reader a reader of lines.
    return read_csv(path, separator="\x1f", names=("text",), quote=None)


def _header(path: Path, line: bytes, separator: str) -> list[str]:
    try:
        columns = [name.strip().strip('"') for name in line.decode().strip("\r").split(separator)]
    except UnicodeDecodeError as problem:
        raise not_utf8(path, line, problem) from None
    for name in columns:
        if columns.count(name) > 1 and name:
            raise TraceError(f"{path.name} line 1: column {name} is named twice")
    # sacct --parsable ends every line with a separator.
    return columns[:-1] if columns[-1] == "" and len(columns) > 1 else columns


def _unreadable(path: Path, data: bytes, problem: Exception) -> TraceError:
    try:
        data.decode()
    except UnicodeDecodeError as wrong:
        return not_utf8(path, data, wrong)
    words = str(problem).split("\n", 1)[0]
    return TraceError(f"{path.name}: not a readable table: {words}")


def _known(text: pl.Series, missing: Sequence[str] = MISSING) -> pl.Series:
    text = text.cast(pl.String).str.strip_chars()
    return pl.select(pl.when(~text.str.to_lowercase().is_in(missing)).then(text)).to_series()


def _spread_evenly(table: RawTable) -> None:
    """Keep a node count only where it says something: several nodes with equal shares of GPUs."""
    if "nodes" not in table.frame.columns:
        return
    nodes, gpus = pl.col("nodes"), pl.col("gpus")
    uneven = (nodes > 1) & (gpus > 0) & (gpus % nodes != 0)
    table.note(
        table.count(uneven),
        "job has GPUs that do not divide evenly over its nodes: node count ignored",
        "jobs have GPUs that do not divide evenly over their nodes: node counts ignored",
    )
    table.frame = table.frame.with_columns(
        nodes=pl.when(nodes.is_null() | nodes.is_nan() | (nodes == 1) | uneven)
        .then(0.0)
        .otherwise(nodes)
    )
