"""Starts and ends of jobs as rows, and back."""

from __future__ import annotations

import json
import math
import sqlite3
from typing import Any

from dovetail.live.journal.records import Happened, RecordedRun
from dovetail.live.journal.schema import lacks

RUN_COLUMNS = (
    "job, label, user, account, partition, qos, submit, eligible, start, time_limit, gpus,"
    " gpu_type, nodes, cpus, memory_gb, hosts, host_gpus, array, restarts, mode, rank, name"
)
"""Of `starts` and `outcomes`, in the order of Run's fields."""

_START = f"INSERT INTO starts (cycle, {RUN_COLUMNS}) VALUES ({', '.join('?' * 23)})"
_END = (
    "INSERT INTO ends (cycle, job, start_id, finish, state) VALUES (?1, ?2,"
    " (SELECT max(id) FROM starts WHERE job = ?2 AND start = ?3), ?4, ?5)"
)


def run_columns(connection: sqlite3.Connection) -> str:
    """The same as a journal can answer it: one of before knows no names of jobs."""
    return (
        RUN_COLUMNS.replace(" name", " ''") if lacks(connection, "starts", "name") else RUN_COLUMNS
    )


def write_happened(connection: sqlite3.Connection, cycle: int, happened: Happened) -> None:
    """Starts first: a short job may have started and ended between two readings."""
    connection.executemany(_START, [(cycle, *row_of(run)) for run in happened.started])
    connection.executemany(_END, [(cycle, *end) for end in happened.ended])


def row_of(run: RecordedRun) -> tuple[Any, ...]:
    texts = {"hosts": json.dumps(run.hosts), "host_gpus": json.dumps(run.host_gpus)}
    return tuple({**run._asdict(), **texts}.values())


def run_of(row: tuple[Any, ...]) -> RecordedRun:
    """NULL is a time that is not known."""
    run = RecordedRun(*row)
    return run._replace(
        submit=_time(run.submit),
        eligible=_time(run.eligible),
        limit=_time(run.limit),
        hosts=tuple(json.loads(str(run.hosts))),
        host_gpus=tuple(json.loads(str(run.host_gpus))),
    )


def _time(value: float | None) -> float:
    return math.nan if value is None else value
