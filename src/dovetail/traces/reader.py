"""Any trace file to a checked `Trace`: guess the format, read, repair if asked, refuse the rest."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from dovetail.domain.errors import ConfigError, TraceError
from dovetail.domain.jobs import UNKNOWN, JobColumns, Jobs, Names
from dovetail.domain.trace import Trace
from dovetail.traces.checks import bad_rows, numbers_of, refuse, repeated, unsorted
from dovetail.traces.formats import FORMATS
from dovetail.traces.formats.csv import CSV, csv_with
from dovetail.traces.repair import REPAIRS, repair_table
from dovetail.traces.source import read_head
from dovetail.traces.table import FLAGS, NAMES, Format, Progress, RawTable, silent


def read_trace(
    path: str | Path,
    format: str | None = None,
    repair: Iterable[str] = (),
    progress: Progress | None = None,
    columns: Mapping[str, str] | None = None,
) -> Trace:
    """The jobs of a trace file, in order of submission.

    `format` is a name of `FORMATS`, guessed from the content if not given; `repair` takes names
    of `REPAIRS`; `columns` says which column of a CSV is which of `FIELDS`. Jobs that ask for
    neither GPUs nor CPUs and jobs that never ran are left out; the notes say how many.
    """
    path, report, repairs = Path(path), progress or silent, tuple(repair)
    for name in repairs:
        REPAIRS[name]  # an unknown name should not cost the reading of a large file
    report(0.0, f"reading {path.name}")
    chosen = _chosen(path, format, columns or {})
    table = chosen.read(path, report)
    report(0.6, "checking rows")
    _leave_out_without_gpus(table, chosen)
    _refuse_nothing(table)
    repair_table(table, repairs)
    refuse(table, bad_rows(table))
    refuse(table, repeated(table))
    refuse(table, unsorted(table))
    _refuse_nothing(table)
    report(0.8, "building columns")
    _count_from_first(table)
    name = table.name or path.name.split(".")[0]
    trace = Trace(_jobs(table.frame), name, tuple(table.notes), table.first)
    report(1.0, f"{len(trace):,} jobs")
    return trace


def _chosen(path: Path, format: str | None, columns: Mapping[str, str]) -> Format:
    if columns:
        if format not in (None, CSV.name):
            raise ConfigError(f"columns are mapped in a CSV only, not in the format {format}")
        return csv_with(columns)
    return FORMATS[format] if format is not None else guess_format(path)


def guess_format(path: Path) -> Format:
    """The first format that recognises the file's content."""
    head = read_head(path)
    for candidate in FORMATS.values():
        if candidate.sniff(path, head):
            return candidate
    if os.path.isdir(path):
        raise TraceError(f"{path}: is a folder; name the trace file in it")
    if not head.strip():
        raise TraceError(f"{path}: the file is empty")
    raise TraceError(
        f"{path.name}: cannot tell its format; name it with --format, one of {', '.join(FORMATS)}; "
        "or say which column is which, for example --map submit=COLUMN,duration=COLUMN,gpus=COLUMN"
    )


def _leave_out_without_gpus(table: RawTable, chosen: Format) -> None:
    """They are no errors, whatever else their rows say; where their CPUs are known, they stay."""
    out = pl.col("gpus") == 0
    if chosen.cpu_jobs and "cpus" in table.frame.columns:
        out &= ~(pl.col("cpus") > 0).fill_null(value=False)
    table.leave_out(out, "job asks for no GPU", "jobs ask for no GPU")


def _refuse_nothing(table: RawTable) -> None:
    if table.frame.is_empty():
        why = f" ({'; '.join(table.notes)})" if table.notes else ""
        raise TraceError(f"{table.file}: no jobs to schedule{why}")


def _count_from_first(table: RawTable) -> None:
    """Let time 0 be the first submission, and say what it was."""
    if table.origin is None:
        return
    first = float(table.frame["submit"][0])
    times = [
        c for c in ("submit", "recorded_start", "deadline", "earliest") if c in table.frame.columns
    ]
    table.frame = table.frame.with_columns(pl.col(*times) - first)
    table.notes.append(table.origin(first))
    table.first = first


def _jobs(frame: pl.DataFrame) -> Jobs:
    columns: dict[str, Any] = {**numbers_of(frame)}
    columns |= {name: _names(frame[name]) for name in NAMES if name in frame.columns}
    columns |= {
        name: frame[name].cast(pl.Boolean).fill_null(value=False).to_numpy()
        for name in FLAGS
        if name in frame.columns
    }
    return JobColumns(ids=frame["id"].cast(pl.String).to_list(), **columns).build()


def _names(column: pl.Series) -> Names:
    """Codes in order of first appearance; an Enum brings its own."""
    if not isinstance(column.dtype, pl.Enum):
        text = column.cast(pl.String)
        column = text.cast(pl.Enum(text.drop_nulls().unique(maintain_order=True)))
    assert isinstance(column.dtype, pl.Enum)
    codes = column.to_physical().cast(pl.Int64).fill_null(UNKNOWN).to_numpy()
    return Names(codes, tuple(column.dtype.categories.to_list()))
