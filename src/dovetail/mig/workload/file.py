"""Jobs for sliced GPUs as a CSV file: one row per job, with its time on each size of slice.

    write_mig_workload(mig_day(seed=3), Path("day.csv"))
    day = read_mig_workload(Path("day.csv"))

Columns: submit, seconds_1g … seconds_7g (empty: cannot run there), and if there are any id,
deadline, memory_gb, kind. Times are in seconds.
"""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import polars as pl

from dovetail.domain.errors import TraceError
from dovetail.domain.jobs import Floats, JobColumns
from dovetail.domain.trace import Trace
from dovetail.mig.workload.jobs import SIZES, MigWorkload, times_table
from dovetail.traces.source import not_utf8, read_bytes

TIMES = tuple(f"seconds_{size}g" for size in SIZES)


def write_mig_workload(workload: MigWorkload, path: Path) -> None:
    """Write what a simulation needs; reading it back gives the same schedules."""
    jobs = workload.trace.jobs
    by_size = workload.times[:, list(SIZES)]
    frame = pl.DataFrame(
        {
            "id": jobs.ids.tolist(),
            "submit": jobs.submit,
            "deadline": jobs.deadline,
            "memory_gb": jobs.memory,
            "kind": pl.Series(jobs.kind.names(), dtype=pl.String),
            **{name: by_size[:, place] for place, name in enumerate(TIMES)},
        }
    )
    unknown = pl.col(pl.Float64)
    finite = frame.with_columns(pl.when(unknown.is_finite()).then(unknown))
    try:
        finite.write_csv(path)
    except OSError as problem:
        raise TraceError(f"{path}: cannot write: {problem.strerror or problem}") from problem


def read_mig_workload(path: Path) -> MigWorkload:
    """Read a file; a column that is missing or a value that is no number is an error."""
    frame = _frame(path)
    missing = [name for name in ("submit", *TIMES) if name not in frame.columns]
    if missing:
        raise TraceError(
            f"{path}: no column {', '.join(missing)}; a file of jobs for sliced GPUs has "
            f"submit, {', '.join(TIMES)}"
        )
    by_size = np.column_stack([_numbers(frame, name, path, np.inf) for name in TIMES])
    _check_times(by_size, path)
    count = len(frame)
    jobs = JobColumns(
        ids=frame["id"].to_list() if "id" in frame.columns else None,
        submit=_numbers(frame, "submit", path, np.nan),
        # The longest time there is: on 1g, unless the job cannot run there.
        run=np.where(np.isfinite(by_size), by_size, 0.0).max(axis=1, initial=0.0),
        gpus=np.ones(count, np.int64),
        memory=_optional(frame, "memory_gb", path, 0.0),
        deadline=_optional(frame, "deadline", path, np.nan),
        kind=frame["kind"].to_list() if "kind" in frame.columns else None,
    )
    return MigWorkload(Trace(jobs.build(), path.stem), times_table(by_size))


def _frame(path: Path) -> pl.DataFrame:
    data = read_bytes(path)
    try:
        data.decode()
    except UnicodeDecodeError as problem:
        raise not_utf8(path, data, problem) from None
    try:
        return pl.read_csv(io.BytesIO(data), infer_schema=False)
    except pl.exceptions.PolarsError as problem:
        raise TraceError(f"{path}: not a table with commas: {problem}") from None


def _numbers(frame: pl.DataFrame, name: str, path: Path, otherwise: float) -> Floats:
    """A column of numbers; empty cells are `otherwise`."""
    given = frame[name]
    numbers = given.cast(pl.Float64, strict=False)
    bad = (given.is_not_null() & (numbers.is_null() | ~numbers.is_finite())).fill_null(value=True)
    if bad.any():
        row = int(bad.arg_max() or 0)
        raise TraceError(f"{path} line {row + 2}: {name} is {given[row]!r}, expected a number")
    return numbers.fill_null(otherwise).to_numpy().astype(np.float64)


def _optional(frame: pl.DataFrame, name: str, path: Path, otherwise: float) -> Floats:
    if name in frame.columns:
        return _numbers(frame, name, path, otherwise)
    return np.full(len(frame), otherwise)


def _check_times(by_size: Floats, path: Path) -> None:
    for wrong, text in (
        (by_size.min(axis=1, initial=np.inf) <= 0, "a time on a slice is not above 0"),
        (~np.isfinite(by_size).any(axis=1), "no time on any slice: the job can never run"),
    ):
        if wrong.any():
            raise TraceError(f"{path} line {int(np.argmax(wrong)) + 2}: {text}")
