"""Slurm accounting as `sacct --json` prints it, turned into the fields of its text form."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

from dovetail.slurm.json_values import plain
from dovetail.traces.cells import Cells
from dovetail.traces.formats.sacct import canonical
from dovetail.traces.records import read_json
from dovetail.traces.table import Format, Progress, RawTable

Json = dict[str, Any]


def sniff(path: Path, head: bytes) -> bool:
    start = head.lstrip()[:1] == b"{"
    return start and b'"jobs"' in head and (b'"job_id"' in head or b'"association"' in head)


def read(path: Path, progress: Progress) -> RawTable:
    records = read_json(path, "jobs")
    rows = [(number, *(read(job) for read in _READERS.values())) for number, job in records]
    progress(0.4, "reading columns")
    schema = {"line": pl.Int64} | dict.fromkeys(_READERS, pl.String)
    return canonical(Cells(path.name, pl.DataFrame(rows, schema, orient="row"), unit="record"))


def _number(value: object) -> str | None:
    value = plain(value)
    return None if value in (None, math.inf) else str(value)


def _array_id(job: Json) -> str | None:
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


def _state(job: Json) -> str | None:
    state = _table(job, "state").get("current", job.get("state"))
    return _text(state[0] if isinstance(state, list) and state else state)


def _time(name: str) -> Callable[[Json], str | None]:
    return lambda job: _number(_table(job, "time").get(name))


_READERS: dict[str, Callable[[Json], str | None]] = {
    "JobID": lambda job: _array_id(job) or _number(job.get("job_id")),
    "JobIDRaw": lambda job: _number(job.get("job_id")),
    "User": lambda job: _text(job.get("user")),
    "Partition": lambda job: _text(job.get("partition")),
    "QOS": lambda job: _text(job.get("qos")),
    "Submit": _time("submission"),
    "Eligible": _time("eligible"),
    "Start": _time("start"),
    "End": _time("end"),
    "ElapsedRaw": _time("elapsed"),
    "TimelimitRaw": _time("limit"),
    "State": _state,
    "AllocTRES": lambda job: _tres(_table(job, "tres").get("allocated")),
    "ReqTRES": lambda job: _tres(_table(job, "tres").get("requested")),
    "NNodes": lambda job: _number(job.get("allocation_nodes")),
    "Priority": lambda job: _number(job.get("priority")),
    "Account": lambda job: _text(job.get("account")),
    "Restarts": lambda job: _number(job.get("restart_cnt")),
    "JobName": lambda job: _text(job.get("name")),
    "WorkDir": lambda job: _text(job.get("working_directory")),
    "SubmitLine": lambda job: _text(job.get("submit_line")),
    "Constraints": lambda job: _text(job.get("constraints")) or None,
    "Reservation": lambda job: _text(_table(job, "reservation").get("name")) or None,
}
"""How a record tells each of `slurm.sacct.FIELDS`, but for those that repeat another in words."""


SACCT_JSON = Format("sacct-json", "Slurm accounting: sacct --json", sniff, read, cpu_jobs=True)
