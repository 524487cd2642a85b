"""Shanghai AI Lab's Acme: `trace_seren.csv` and `trace_kalos.csv`."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from dovetail.traces.cells import read_csv
from dovetail.traces.source import column_names
from dovetail.traces.table import Format, Progress, RawTable, calendar

_COLUMNS = {"job_id", "node_num", "gpu_num", "type", "state", "submit_time", "gpu_time"}


def sniff(path: Path, head: bytes) -> bool:
    return set(column_names(head)) >= _COLUMNS


def read(path: Path, progress: Progress) -> RawTable:
    cells = read_csv(path)
    cells.require("job_id", "gpu_num", "submit_time", "duration")
    progress(0.4, "reading columns")
    nodes = cells.numbers("node_num")
    table = cells.table(
        {
            "id": cells.names("job_id"),
            "submit": cells.times("submit_time"),
            "run": cells.numbers("duration"),
            "gpus": cells.numbers("gpu_num"),
            "nodes": nodes,
            "cpus": cells.numbers("cpu_num"),
            # One pod per node: the memory of the whole job is the pods' together.
            "memory": cells.numbers("mem_per_pod_GB") * nodes.fill_null(1.0).clip(1.0),
            "user": cells.names("user"),
            "kind": cells.names("type").str.to_lowercase(),
            "recorded_start": cells.times("start_time"),
        },
        {
            "id": "job_id",
            "submit": "submit_time",
            "run": "duration",
            "gpus": "gpu_num",
            "nodes": "node_num",
            "cpus": "cpu_num",
            "memory": "mem_per_pod_GB",
        },
    )
    if "start_time" in cells:
        table.leave_out(
            pl.col("recorded_start").is_null(), "job never started", "jobs never started"
        )
    table.origin, table.always = calendar("UTC"), ("sort",)
    return table


ACME = Format("acme", "Acme 2023 trace_seren.csv and trace_kalos.csv", sniff, read)
