"""When nodes were not there: `sacctmgr show event` and `scontrol show reservation`."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from dovetail.domain.access import Access
from dovetail.domain.errors import ClusterError
from dovetail.domain.outages import OutageState
from dovetail.slurm.host_lists import expand
from dovetail.slurm.show import records_of
from dovetail.slurm.states import node_state
from dovetail.slurm.words import words_of
from dovetail.traces.clusters.shape import Closed, Shape
from dovetail.traces.clusters.unread import RESERVATION_KEYS
from dovetail.traces.source import read_text
from dovetail.traces.times import epoch_seconds

_RESERVATION_FIELDS = (
    "ReservationName", "StartTime", "EndTime", "Nodes", "Flags", "Users", "Accounts",
    *RESERVATION_KEYS,
)  # fmt: skip
_DRAWS_JOBS_IN = ("FLEX", "MAGNETIC")
_STILL = ("", "unknown", "none", "n/a", "0")
_GONE = {"DOWN", "FAIL", "ERROR", "REBOOT"}


def is_reservations(path: Path, head: bytes) -> bool:
    return head.lstrip().startswith(b"ReservationName=")


def read_events(shape: Shape, rows: Iterator[dict[str, str]]) -> None:
    """Rows of `sacctmgr -P show event`; those of the whole cluster name no node."""
    strange = 0
    for row in rows:
        names = expand(row.get("nodename", ""))
        if not names:
            continue
        start, end = _moment(row.get("timestart", "")), _moment(row.get("timeend", ""))
        if math.isinf(start) or not start < end:
            strange += 1
            continue
        base, _ = node_state(row.get("state", "").upper())
        state = OutageState.DOWN if base in _GONE else OutageState.DRAIN
        shape.closed.append(Closed(tuple(names), start, end, state, row.get("reason", "")))
    if strange:
        shape.notes.append(f"{strange:,} events without a start, or that end before: left out")


def read_reservations(path: Path, shape: Shape) -> None:
    """Jobs that do not ask for a reservation are kept off its nodes, whoever may use it."""
    for fields in records_of(read_text(path), _RESERVATION_FIELDS):
        names = expand(fields.get("Nodes", "").replace("(null)", ""))
        start, end = _moment(fields.get("StartTime", "")), _moment(fields.get("EndTime", ""))
        if not names or math.isinf(start) or math.isinf(end):
            shape.notes.append(
                f"reservation {fields['ReservationName']} has no nodes or times: left out"
            )
            continue
        name = fields["ReservationName"]
        users, accounts = _who(fields.get("Users", "")), _who(fields.get("Accounts", ""))
        access = Access(*users, *accounts)
        shape.closed.append(Closed(tuple(names), start, end, None, name, access))
        for key in RESERVATION_KEYS:
            shape.unread.add(key, fields.get(key, ""), f"reservation {name}")
        flags = [flag for flag in _DRAWS_JOBS_IN if flag in words_of(fields.get("Flags", ""))]
        shape.unread.add("Flags", ",".join(flags), f"reservation {name}")


def _who(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names that are let in, and those with a minus, which are not."""
    names = words_of(text)
    denied = tuple(name.removeprefix("-") for name in names if name.startswith("-"))
    return tuple(name for name in names if not name.startswith("-")), denied


def _moment(text: str) -> float:
    """Seconds since 1970, as a job history has them; inf: it has not come yet."""
    if text.strip().lower() in _STILL:
        return math.inf
    seconds = epoch_seconds(pl.Series([text.strip()]))[0]
    if seconds is None:
        raise ClusterError(f"{text[:40]!r} is no time; expected 2024-05-01T12:00:00 or seconds")
    return float(seconds)
