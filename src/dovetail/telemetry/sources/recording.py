"""Recorded readings in a CSV file, moment by moment: Philly's `cluster_gpu_util`, or our columns.

Philly:  time,machineId,gpu0_util,…,gpu7_util    (percent, US Pacific time, NA where not known)
ours:    time,host,gpu,utilisation,power,…       (seconds since 1970; the quantities' own units)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

from dovetail.domain.jobs import Floats
from dovetail.telemetry.quantities import COLUMN, QUANTITIES
from dovetail.telemetry.readings import GpuLabels, GpuName, Readings
from dovetail.telemetry.sources.base import SourceError

ZONE = "America/Los_Angeles"
_PHILLY_GPU = re.compile(r"^gpu(\d{1,3})_util$")
_WALL = "%Y-%m-%d %H:%M:%S"


class Recording:
    """A file of readings; `replay` gives its moments in order, `read` the last of them.

    for readings in Recording(Path("cluster_gpu_util.csv")).replay():
        watch.observe(check(readings).readings)
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._table = _load(path)
        if self._table.is_empty():
            raise SourceError(f"{path}: no readings in it")

    def read(self) -> Readings:
        last = self._table["time"][-1]
        return _moment(self._table.filter(pl.col("time") == last))

    def replay(self) -> Iterator[Readings]:
        for part in self._table.partition_by("time", maintain_order=True):
            yield _moment(part)


def _load(path: Path) -> pl.DataFrame:
    """One row per GPU and moment: time, host, gpu, quantities; in order of time."""
    try:
        table = pl.read_csv(path, infer_schema=False, null_values=["", "NA"])
    except (OSError, pl.exceptions.PolarsError) as problem:
        raise SourceError(f"{path}: not a readable CSV file: {problem}") from problem
    names = [name.strip() for name in table.columns]
    table.columns = names
    if {"time", "machineId"} <= set(names):
        return _philly(path, table)
    if {"time", "host", "gpu"} <= set(names):
        return _own(path, table)
    raise SourceError(
        f"{path}: expected the columns time, machineId, gpu0_util … (Philly's) or time, host, gpu "
        f"and quantities, not {', '.join(names)[:200]}"
    )


def _philly(path: Path, table: pl.DataFrame) -> pl.DataFrame:
    gpus = [name for name in table.columns if _PHILLY_GPU.match(name)]
    # "2017-10-03 00:15:00 PDT": the zone's letters say which of the two hours in autumn it is.
    time = pl.col("time").str.strip_chars()
    wall = time.str.slice(0, 19).str.to_datetime(_WALL, strict=False)
    zoned = wall.dt.replace_time_zone(
        ZONE,
        ambiguous=pl.when(time.str.ends_with("PST")).then(pl.lit("latest")).otherwise(
            pl.lit("earliest")
        ),
        non_existent="null",
    )  # fmt: skip
    long = table.with_columns(zoned.dt.epoch("ms").truediv(1000.0).alias("time")).unpivot(
        gpus, index=["time", "machineId"], variable_name="gpu", value_name="utilisation"
    )
    return _sorted(
        path,
        long.select(
            "time",
            pl.col("machineId").alias("host"),
            pl.col("gpu").str.extract(_PHILLY_GPU.pattern),
            pl.col("utilisation").cast(pl.Float64, strict=False) / 100.0,
        ).filter(pl.col("utilisation").is_not_null() | pl.col("time").is_null()),
    )


def _own(path: Path, table: pl.DataFrame) -> pl.DataFrame:
    told = [name for name in QUANTITIES if name in table.columns]
    numbers = [pl.col(name).cast(pl.Float64, strict=False) for name in ("time", *told)]
    return _sorted(path, table.select(*numbers, "host", "gpu"))


def _sorted(path: Path, table: pl.DataFrame) -> pl.DataFrame:
    bad = table.select(pl.any_horizontal(pl.col("time", "host", "gpu").is_null())).to_series()
    if bad.any():
        raise SourceError(
            f"{path}: {int(bad.sum()):,} readings without a time, host or GPU; mend or drop them"
        )
    return table.sort("time", maintain_order=True)


def _moment(table: pl.DataFrame) -> Readings:
    """Rows of one moment; no GPU is told twice in one file's moment but the last word counts."""
    table = table.unique(["host", "gpu"], keep="last", maintain_order=True)
    values: Floats = np.full((len(table), len(COLUMN)), np.nan)
    for name in table.columns:
        if name in COLUMN:
            values[:, COLUMN[name]] = table[name].to_numpy()
    gpus = tuple(map(GpuName, table["host"].to_list(), table["gpu"].to_list()))
    time = float(table["time"][0])
    return Readings(time, gpus, (GpuLabels(),) * len(gpus), values, np.full(len(gpus), time))
