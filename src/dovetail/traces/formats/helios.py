"""SenseTime's Helios and Shanghai AI Lab's Acme: logs of one family, with columns of their own."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path

import polars as pl

from dovetail.traces.cells import Cells, read_csv
from dovetail.traces.source import column_names
from dovetail.traces.table import Format, Progress, RawTable, calendar

Own = Callable[[Cells], dict[str, pl.Series]]
"""Reads the columns that only one of the logs has."""


def sniff(path: Path, head: bytes, columns: Collection[str]) -> bool:
    return set(columns) <= set(column_names(head))


def read(path: Path, progress: Progress, own: Own, clock: str) -> RawTable:
    """What both logs have, with the columns of one, and words for the clock of its times."""
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
            "user": cells.names("user"),
            "recorded_start": cells.times("start_time"),
            **own(cells),
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
    table.origin, table.always = calendar(clock), ("sort",)
    return table


def _of_helios(cells: Cells) -> dict[str, pl.Series]:
    return {"partition": cells.names("vc")}


def _of_acme(cells: Cells) -> dict[str, pl.Series]:
    # One pod per node: the memory of the whole job is the pods' together.
    pods = cells.numbers("node_num").fill_null(1.0).clip(1.0)
    return {
        "memory": cells.numbers("mem_per_pod_GB") * pods,
        "kind": cells.names("type").str.to_lowercase(),
    }


HELIOS = Format(
    "helios",
    "SenseTime Helios cluster_log.csv",
    partial(
        sniff,
        columns=("job_id", "vc", "gpu_num", "node_num", "submit_time", "duration", "queue"),
    ),
    # China has no daylight saving, so that naive times keep their distances.
    partial(read, own=_of_helios, clock="the trace's local time"),
)

ACME = Format(
    "acme",
    "Acme 2023 trace_seren.csv and trace_kalos.csv",
    partial(
        sniff,
        columns=("job_id", "node_num", "gpu_num", "type", "state", "submit_time", "gpu_time"),
    ),
    partial(read, own=_of_acme, clock="UTC"),
)
