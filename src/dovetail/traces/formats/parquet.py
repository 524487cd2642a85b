"""Dovetail's own Parquet: one row per job, as `write_trace` writes it or as others prepare it."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl

from dovetail.domain.validity import MOST
from dovetail.traces.cells import Cells
from dovetail.traces.fields import FIELDS
from dovetail.traces.parquet_trial import read_parquet
from dovetail.traces.source import read_bytes
from dovetail.traces.table import FLAGS, NUMBERS, Format, Progress, RawTable

COLUMNS = {field.column: field.parquet for field in FIELDS.values()}
"""Canonical column -> its name in the file."""

MARK = "dovetail.trace"
"""The metadata key of files that we wrote: their columns are taken as they are."""


def sniff(path: Path, head: bytes) -> bool:
    return head.startswith(b"PAR1")


def read(path: Path, progress: Progress) -> RawTable:
    frame, facts = read_parquet(read_bytes(path), path.name)
    mark = facts.get(MARK)
    cells = Cells(path.name, frame.with_row_index("line", offset=1), unit="row")
    cells.require("job_id", "submit_time", "duration")
    progress(0.4, "reading columns")
    return _foreign(cells) if mark is None else _ours(cells, mark)


def _ours(cells: Cells, mark: str) -> RawTable:
    """Columns exactly as written, so that a trace read back has the digest it was written with."""
    cells.require("req_gpus")
    kept = {ours: theirs for ours, theirs in COLUMNS.items() if theirs in cells}
    frame = cells.frame.select(
        pl.col("line").cast(pl.Int64),
        *(
            cells.numbers(theirs).alias(ours) if ours in NUMBERS else pl.col(theirs).alias(ours)
            for ours, theirs in kept.items()
        ),
    )
    said = _facts(mark)
    table = RawTable(cells.file, frame, COLUMNS, cells.faults(), "row")
    notes, name = said.get("notes"), said.get("name")
    table.notes = [str(note) for note in notes] if isinstance(notes, list) else []
    table.name = name if isinstance(name, str) else None
    first = said.get("origin")
    if isinstance(first, int | float) and abs(first) < MOST:
        table.first = float(first)
    return table


def _foreign(cells: Cells) -> RawTable:
    notes = []
    sizes = "req_gpus"
    if sizes not in cells and "req_cpus" in cells:
        sizes = "req_cpus"
        notes.append("no column req_gpus: processors (req_cpus) are taken as GPUs")
    cells.require(sizes)
    given = {ours: theirs for ours, theirs in COLUMNS.items() if theirs in cells}
    given |= {"gpus": sizes}
    if sizes == "req_cpus":
        del given["cpus"]
    columns = {
        ours: cells.numbers(theirs) if ours in NUMBERS or ours in FLAGS else cells.names(theirs)
        for ours, theirs in given.items()
    }
    table = cells.table(columns, given)
    table.notes += notes
    _tell_tasks_apart(table)
    if "duration_clamped" in cells and cells.frame["duration_clamped"].dtype == pl.Boolean:
        table.note(
            int(cells.frame["duration_clamped"].sum()),
            "run time was cut by the source (duration_clamped)",
            "run times were cut by the source (duration_clamped)",
        )
    return table


def _tell_tasks_apart(table: RawTable) -> None:
    """Rows of one job id and different kinds are its tasks, each a gang of its own."""
    if "kind" not in table.frame.columns:
        return
    several = (pl.len().over("id") > 1) & (
        pl.col("kind").n_unique().over("id") == pl.len().over("id")
    )
    table.note(
        table.count(several),
        "row is a task of a job with several: named job/kind",
        "rows are tasks of jobs with several: named job/kind",
    )
    table.frame = table.frame.with_columns(
        id=pl.when(several).then(pl.col("id") + "/" + pl.col("kind")).otherwise(pl.col("id"))
    )


def _facts(mark: str) -> dict[str, object]:
    try:
        said = json.loads(mark)
    except (ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}


PARQUET = Format("parquet", "Dovetail's Parquet", sniff, read, cpu_jobs=True)
