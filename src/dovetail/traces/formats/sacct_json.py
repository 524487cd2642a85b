"""Slurm accounting as `sacct --json` prints it, turned into the fields of its text form."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from dovetail.traces.cells import Cells
from dovetail.traces.formats.sacct import canonical
from dovetail.traces.records import read_json
from dovetail.traces.table import Format, Progress, RawTable

_FIELDS = (
    "JobID",
    "JobIDRaw",
    "User",
    "Partition",
    "QOS",
    "Submit",
    "Eligible",
    "Start",
    "End",
    "ElapsedRaw",
    "TimelimitRaw",
    "State",
    "AllocTRES",
    "ReqTRES",
    "NNodes",
    "Priority",
)


def sniff(path: Path, head: bytes) -> bool:
    start = head.lstrip()[:1] == b"{"
    return start and b'"jobs"' in head and (b'"job_id"' in head or b'"association"' in head)


def read(path: Path, progress: Progress) -> RawTable:
    rows = [(number, *_fields(job)) for number, job in read_json(path, "jobs")]
    progress(0.4, "reading columns")
    schema = {"line": pl.Int64} | dict.fromkeys(_FIELDS, pl.String)
    return canonical(Cells(path.name, pl.DataFrame(rows, schema, orient="row"), unit="record"))


def _fields(job: dict[str, Any]) -> tuple[str | None, ...]:
    time, tres, raw = _table(job, "time"), _table(job, "tres"), _number(job.get("job_id"))
    state = _table(job, "state").get("current", job.get("state"))
    return (
        _array_id(job) or raw,
        raw,
        _text(job.get("user")),
        _text(job.get("partition")),
        _text(job.get("qos")),
        _number(time.get("submission")),
        _number(time.get("eligible")),
        _number(time.get("start")),
        _number(time.get("end")),
        _number(time.get("elapsed")),
        _number(time.get("limit")),
        _text(state[0] if isinstance(state, list) and state else state),
        _tres(tres.get("allocated")),
        _tres(tres.get("requested")),
        _number(job.get("allocation_nodes")),
        _number(job.get("priority")),
    )


def _number(value: object) -> str | None:
    """Plain numbers in old versions, {set, infinite, number} since 23.02."""
    if isinstance(value, dict):
        known = value.get("set", True) and not value.get("infinite", False)
        value = value.get("number") if known else None
    return _text(value)


def _array_id(job: dict[str, Any]) -> str | None:
    array = _table(job, "array")
    parent, task = _number(array.get("job_id")), _number(array.get("task_id"))
    return f"{parent}_{task}" if parent not in (None, "0") and task is not None else None


def _tres(items: object) -> str | None:
    """As sacct's text writes it; memory counts in MB, which is also the text's default unit."""
    if not isinstance(items, list):
        return None
    parts = []
    for item in items:
        if isinstance(item, dict):
            name = f"/{item['name']}" if item.get("name") else ""
            parts.append(f"{item.get('type')}{name}={_number(item.get('count'))}")
    return ",".join(parts) or None


def _table(record: dict[str, Any], key: str) -> dict[str, Any]:
    value = record.get(key)
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str | None:
    return None if value is None else str(value)


SACCT_JSON = Format("sacct-json", "Slurm accounting: sacct --json", sniff, read)
