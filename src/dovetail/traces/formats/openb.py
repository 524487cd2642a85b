"""Alibaba 2023: `openb_pod_list_*.csv`, pods that may share a GPU."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from dovetail.traces.cells import read_csv
from dovetail.traces.source import column_names
from dovetail.traces.table import Format, Progress, RawTable, own_clock

_COLUMNS = {"name", "num_gpu", "gpu_milli", "creation_time", "deletion_time"}


def sniff(path: Path, head: bytes) -> bool:
    return set(column_names(head)) >= _COLUMNS


def read(path: Path, progress: Progress) -> RawTable:
    cells = read_csv(path)
    cells.require("name", "num_gpu", "creation_time", "deletion_time", "scheduled_time")
    progress(0.4, "reading columns")
    table = cells.table(
        {
            "id": cells.names("name"),
            "submit": cells.times("creation_time"),
            "recorded_start": cells.times("scheduled_time"),
            "end": cells.times("deletion_time"),
            "run": pl.col("end") - pl.col("recorded_start"),
            "gpus": cells.numbers("num_gpu"),
            "gpu_milli": cells.numbers("gpu_milli"),
            "cpus": cells.numbers("cpu_milli") / 1000.0,
            "memory": cells.numbers("memory_mib") / 1024.0,
            "gpu_type": cells.names("gpu_spec"),
            "qos": cells.names("qos"),
        },
        {
            "id": "name",
            "submit": "creation_time",
            "run": "deletion_time - scheduled_time",
            "gpus": "num_gpu",
            "cpus": "cpu_milli / 1000",
            "memory": "memory_mib / 1024",
        },
    )
    table.leave_out(
        pl.col("recorded_start").is_null(), "pod was never scheduled", "pods were never scheduled"
    )
    table.note(
        table.count((pl.col("gpus") > 0) & (pl.col("gpu_milli") < 1000)),
        "pod asks for a part of a GPU: rounded up to the whole GPU",
        "pods ask for a part of a GPU: rounded up to whole GPUs",
    )
    table.origin, table.always = own_clock, ("sort",)
    return table


OPENB = Format("openb", "Alibaba 2023 openb_pod_list_*.csv", sniff, read)
