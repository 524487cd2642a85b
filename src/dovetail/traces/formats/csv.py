"""Any table of text with a header line: its columns by our names, or as `--map` says.

read_trace("jobs.csv", columns={"submit": "Submitted", "duration": "Elapsed", "gpus": "GPUs"})
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

import polars as pl

from dovetail.domain.errors import TraceError
from dovetail.traces.cells import Cells, read_csv
from dovetail.traces.fields import FIELDS, Field, Holds
from dovetail.traces.source import column_names, first_line, read_head
from dovetail.traces.table import Format, Progress, RawTable, calendar, own_clock
from dovetail.traces.times import clocks

NEEDED = ("submit", "duration", "gpus")
END = "end"
"""May stand for the duration, together with the start."""

SEPARATORS = ",;\t|"


def sniff(path: Path, head: bytes) -> bool:
    return set(NEEDED) <= set(column_names(head, _separator(head)))


def read(path: Path, progress: Progress, columns: Mapping[str, str]) -> RawTable:
    """`columns` maps fields to columns; without it, columns are found by the fields' names."""
    for name in columns:
        if name != END and name not in FIELDS:
            raise FIELDS.unknown(name, END)
    cells = read_csv(path, separator=_separator(read_head(path)))
    cells.require(*columns.values())
    chosen = dict(columns) or {name: name for name in (*FIELDS, END) if name in cells}
    _refuse_missing(path, cells, chosen)
    progress(0.3, "reading columns")
    found = {name: _read(cells, FIELDS[name], chosen[name]) for name in FIELDS if name in chosen}
    if "id" not in chosen:
        found["id"] = cells.frame["line"].cast(pl.String)
    if "duration" not in chosen:
        found["duration"] = cells.times(chosen[END]) - found["start"]
    labels = {FIELDS[name].column: column for name, column in chosen.items() if name != END}
    table = cells.table({FIELDS[name].column: series for name, series in found.items()}, labels)
    dates = cells.names(chosen["submit"]).str.contains(r"^\d{4}-").any()
    table.origin = calendar("UTC where no zone is given") if dates else own_clock
    return table


def _refuse_missing(path: Path, cells: Cells, chosen: Mapping[str, str]) -> None:
    missing = [name for name in NEEDED if name not in chosen]
    if {END, "start"} <= chosen.keys() and "duration" in missing:
        missing.remove("duration")
    if missing:
        has = ", ".join(column for column in cells.frame.columns if column != "line")
        raise TraceError(
            f"{path.name}: no column for {', '.join(missing)}; say which, for example "
            f"--map {missing[0]}=COLUMN; it has {has}"
        )


def _read(cells: Cells, field: Field, column: str) -> pl.Series:
    if field.holds is Holds.TIME:
        return cells.times(column)
    if field.holds is Holds.DURATION:
        return cells.times(column, _seconds_or_clock, "seconds, or a time such as 1-12:30:00")
    return cells.numbers(column) if field.holds is Holds.NUMBER else cells.names(column)


def _seconds_or_clock(text: pl.Series) -> pl.Series:
    seconds = text.cast(pl.Float64, strict=False)
    return pl.select(pl.coalesce(seconds, clocks(text))).to_series()


def _separator(head: bytes) -> str:
    """The sign that the header has most of."""
    line = first_line(head)
    return max(SEPARATORS, key=line.count)


def csv_with(columns: Mapping[str, str]) -> Format:
    """The format for a file whose columns have names of their own."""
    return Format(
        "csv",
        "Any CSV with a header: columns submit, duration, gpus, ..., or named by --map",
        sniff,
        partial(read, columns=dict(columns)),
        cpu_jobs=True,
    )


CSV = csv_with({})
