"""The Standard Workload Format 2.2 of the Parallel Workloads Archive, plain or gzipped."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from dovetail.traces.cells import OVERFLOW, Cells, read_lines
from dovetail.traces.table import Format, Progress, RawTable

FIELDS = (
    "job",
    "submit",
    "wait",
    "run_time",
    "allocated_processors",
    "average_cpu_time",
    "used_memory",
    "requested_processors",
    "requested_time",
    "requested_memory",
    "status",
    "user",
    "group",
    "executable",
    "queue",
    "partition",
    "preceding_job",
    "think_time",
)
_HEADER_FACTS = ("Computer", "Installation", "UnixStartTime", "MaxNodes", "MaxProcs", "TimeZone")


def sniff(path: Path, head: bytes) -> bool:
    lines = [line.strip() for line in head.decode(errors="replace").splitlines()]
    rows = [line.split() for line in lines if line and not line.startswith(";")]
    if not rows:
        return bool(lines) and lines[0].startswith(";")
    # The last line of the head may be cut.
    return len(rows[0]) == len(FIELDS) and all(_is_number(field) for field in rows[0])


def read(path: Path, progress: Progress) -> RawTable:
    lines = read_lines(path).frame.with_columns(pl.col("text").str.strip_chars())
    comment = pl.col("text").str.starts_with(";")
    facts = lines.filter(comment)["text"].str.strip_chars("; \t").to_list()
    rows = lines.filter(~comment & (pl.col("text") != ""))
    progress(0.3, "reading fields")
    split = pl.col("text").str.replace_all(r"\s+", " ").str.split_exact(" ", len(FIELDS))
    named = split.struct.rename_fields([*FIELDS, OVERFLOW])
    cells = Cells(path.name, rows.select("line", named).unnest("text"))
    table = canonical(cells)
    table.notes[:0] = [
        "SWF knows no GPUs: processors are taken as GPUs",
        *(fact for fact in facts if fact.split(":")[0] in _HEADER_FACTS),
    ]
    return table


def canonical(cells: Cells, **more: pl.Series) -> RawTable:
    """SWF's fields as canonical columns; -1 means unknown in all of them."""
    requested = cells.numbers("requested_processors")
    allocated = cells.numbers("allocated_processors")
    table = cells.table(
        {
            "id": cells.names("job"),
            "submit": cells.numbers("submit"),
            "run": cells.numbers("run_time"),
            "gpus": pl.select(
                pl.when((requested == -1) | requested.is_null())
                .then(allocated)
                .otherwise(requested)
            ).to_series(),
            "limit": _known(cells.numbers("requested_time")),
            "per_processor": _known(cells.numbers("requested_memory")),
            "memory": pl.col("per_processor") * pl.col("gpus") / 1024.0**2,
            "user": _named(cells, "user"),
            "partition": _named(cells, "partition"),
            "qos": _named(cells, "queue"),
            "name": _named(cells, "executable"),
            "account": _named(cells, "group"),
            "wait": _known(cells.numbers("wait")),
            "recorded_start": pl.col("submit") + pl.col("wait"),
            **more,
        },
        {
            "id": "job number",
            "submit": "submit time",
            "run": "run time",
            "gpus": "requested processors",
            "limit": "requested time",
            "memory": "requested memory",
        },
    )
    table.leave_out(pl.col("run") == -1, "job has no run time", "jobs have no run time")
    table.leave_out(pl.col("gpus") == -1, "job has no size", "jobs have no size")
    return table


def _known(numbers: pl.Series) -> pl.Series:
    return pl.select(pl.when(numbers != -1).then(numbers)).to_series()


def _named(cells: Cells, column: str) -> pl.Series:
    names = cells.names(column)
    return pl.select(pl.when(names != "-1").then(names)).to_series()


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


SWF = Format("swf", "Standard Workload Format, plain or .gz", sniff, read)
