"""Microsoft Philly: `cluster_job_log`, a JSON list of jobs with their attempts."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from dovetail.traces.cells import Cells
from dovetail.traces.records import read_json
from dovetail.traces.table import Format, Progress, RawTable, calendar
from dovetail.traces.times import ambiguous_times, local_epoch_seconds

ZONE = "America/Los_Angeles"
_FIELDS = ("jobid", "submitted_time", "user", "vc", "start_time", "end_time", "ended", "gpus")


def sniff(path: Path, head: bytes) -> bool:
    return head.lstrip()[:1] == b"[" and b'"attempts"' in head and b'"submitted_time"' in head


def read(path: Path, progress: Progress) -> RawTable:
    rows = [_row(number, job) for number, job in read_json(path)]
    progress(0.4, "reading columns")
    schema = {"line": pl.Int64} | dict.fromkeys(_FIELDS, pl.String)
    cells = Cells(path.name, pl.DataFrame(rows, schema, orient="row"), unit="record")
    local = partial(local_epoch_seconds, zone=ZONE)
    table = cells.table(
        {
            "id": cells.names("jobid"),
            "submit": cells.times("submitted_time", local),
            "recorded_start": cells.times("start_time", local),
            "end": cells.times("end_time", local),
            "ended": cells.names("ended"),
            "run": pl.col("end") - pl.col("recorded_start"),
            "gpus": cells.numbers("gpus"),
            "user": cells.names("user"),
            "partition": cells.names("vc"),
        },
        {
            "id": "jobid",
            "submit": "submitted_time",
            "run": "last end_time - first start_time",
            "gpus": "GPUs in detail",
        },
    )
    start, end = pl.col("recorded_start"), pl.col("end")
    table.leave_out(start.is_null(), "job never started", "jobs never started")
    table.leave_out(end.is_null() | (pl.col("ended") == "no"), "job has no end", "jobs have no end")
    twice = sum(ambiguous_times(cells.names(c), ZONE) for c in _FIELDS if c.endswith("_time"))
    table.note(
        twice,
        "time lies in the hour that autumn repeats: taken as the first of the two",
        "times lie in the hour that autumn repeats: taken as the first of the two",
    )
    table.origin, table.always = calendar("UTC; the log is in US Pacific time"), ("sort",)
    return table


def _row(number: int, job: dict[str, Any]) -> tuple[int | str | None, ...]:
    attempts = [item for item in _list(job, "attempts") if isinstance(item, dict)]
    starts, ends = (list(_texts(attempts, key)) for key in ("start_time", "end_time"))
    gpus = max((_gpus(attempt) for attempt in attempts), default=0)
    # A job whose last attempt has no end was still running when the log was taken.
    ended = "yes" if attempts and attempts[-1].get("end_time") not in (None, "None") else "no"
    facts = (_text(job.get(key)) for key in _FIELDS[:4])
    # Times of one format compare as text.
    first, last = min(starts, default=None), max(ends, default=None)
    return (number, *facts, first, last, ended, str(gpus))


def _texts(attempts: list[dict[str, Any]], key: str) -> Iterator[str]:
    return (str(a[key]) for a in attempts if a.get(key) not in (None, "None", ""))


def _list(record: dict[str, Any], key: str) -> list[Any]:
    value = record.get(key)
    return value if isinstance(value, list) else []


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _gpus(attempt: dict[str, Any]) -> int:
    return sum(
        len(part["gpus"])
        for part in _list(attempt, "detail")
        if isinstance(part, dict) and isinstance(part.get("gpus"), list)
    )


PHILLY = Format("philly", "Microsoft Philly cluster_job_log", sniff, read)
