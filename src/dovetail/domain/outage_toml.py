"""Outages and reservations of nodes in a cluster's TOML."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

from dovetail.domain.access import ACCESS_KEYS, Access
from dovetail.domain.errors import ClusterError
from dovetail.domain.outages import NodeReservation, Outage, OutageState
from dovetail.domain.toml_table import TomlTable, refuse_unknown

Members = Callable[[list[str], str], frozenset[int]]
"""From names of nodes, and words for where they stand, to the nodes."""

_OUTAGE = {"nodes", "start", "end", "state", "reason"}
_RESERVATION = {"name", "nodes", "start", "end", "users", "not_users", "accounts", "not_accounts"}


def read_outages(value: Any, file: str, members: Members) -> Iterator[Outage]:
    """The tables [[outages]]."""
    for entry in _tables(value, f"{file}: [[outages]]", _OUTAGE):
        state = entry.text("state", OutageState.DOWN.value)
        if state not in {part.value for part in OutageState}:
            raise ClusterError(f"{entry.where}: state is {state!r}, expected down or drain")
        yield Outage(
            members(entry.texts("nodes"), entry.where),
            _time(entry, "start", math.nan),
            _time(entry, "end", math.inf),
            OutageState(state),
            entry.text("reason", ""),
        )


def read_reservations(value: Any, file: str, members: Members) -> Iterator[NodeReservation]:
    """The tables [[reservations]]."""
    for entry in _tables(value, f"{file}: [[reservations]]", _RESERVATION):
        yield NodeReservation(
            members(entry.texts("nodes"), entry.where),
            _time(entry, "start", math.nan),
            _time(entry, "end", math.inf),
            entry.text("name", ""),
            read_access(entry),
        )


def read_access(entry: TomlTable) -> Access:
    """Who may use what the table describes."""
    return Access(*(tuple(entry.texts(key)) for key in ACCESS_KEYS))


def _tables(value: Any, words: str, known: set[str]) -> Iterator[TomlTable]:
    if not isinstance(value, list):
        raise ClusterError(f"{words}: write each as a table of its own")
    for number, content in enumerate(value, start=1):
        where = f"{words} number {number}"
        refuse_unknown(content, known, where)
        yield TomlTable(content, where)


def _time(entry: TomlTable, key: str, default: float) -> float:
    """Seconds, or a date and time; UTC where it names no zone, as in a job history."""
    value = entry.content.get(key, default)
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()
    return entry.number(key, default)
