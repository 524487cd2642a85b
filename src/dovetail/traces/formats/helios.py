"""SenseTime Helios: `cluster_log.csv` of one cluster."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from dovetail.traces.cells import read_csv
from dovetail.traces.source import column_names
from dovetail.traces.table import Format, Progress, RawTable, calendar

_COLUMNS = {"job_id", "vc", "gpu_num", "node_num", "submit_time", "duration", "queue"}


def sniff(path: Path, head: bytes) -> bool:
    return set(column_names(head)) >= _COLUMNS


def read(path: Path, progress: Progress) -> RawTable:
    cells = read_csv(path)
    cells.require("job_id", "gpu_num", "submit_time", "duration")
    progress(0.4, "reading columns")
    table = cells.table(
        {
            "id": cells.names("job_id"),
            "submit": cells.times("submit_time"),
            "run": cells.numbers("duration"),
            "gpus": cells.numbers("gpu_num"),
            "nodes": cells.numbers("node_num"),
            "cpus": cells.numbers("cpu_num"),
            "partition": cells.names("vc"),
            "user": cells.names("user"),
            "recorded_start": cells.times("start_time"),
        },
        {
            "id": "job_id",
            "submit": "submit_time",
            "run": "duration",
            "gpus": "gpu_num",
            "nodes": "node_num",
            "cpus": "cpu_num",
        },
    )
    if "start_time" in cells:
        table.leave_out(
            pl.col("recorded_start").is_null(), "job never started", "jobs never started"
        )
    # China has no daylight saving, so that naive times keep their distances.
    table.origin, table.always = calendar("the trace's local time"), ("sort",)
    return table


HELIOS = Format("helios", "SenseTime Helios cluster_log.csv", sniff, read)
