"""When nodes are not there: failures, drains and reservations, on the clock of the job history."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

from dovetail.domain.access import ANYBODY, Access
from dovetail.domain.errors import ClusterError

MAX_CLOSURES = 2_000_000
"""Nodes of all outages and reservations together."""


class OutageState(Enum):
    """What an outage does to the jobs of a node."""

    DOWN = "down"  # they are killed
    DRAIN = "drain"  # they run to their ends


@dataclass(frozen=True, slots=True)
class Outage:
    """Nodes that take no jobs over [start, end); nobody knows the end before it comes."""

    nodes: frozenset[int]
    start: float  # seconds since 1970, or on the history's own clock
    end: float = math.inf  # inf: for good
    state: OutageState = OutageState.DOWN
    reason: str = ""

    def __post_init__(self) -> None:
        _check("outage", self.start, self.end)


@dataclass(frozen=True, slots=True)
class NodeReservation:
    """Nodes that are kept for something else over [start, end), as has long been known."""

    nodes: frozenset[int]
    start: float
    end: float
    name: str = ""
    access: Access = ANYBODY  # whose jobs may ask for it

    def __post_init__(self) -> None:
        _check(f"reservation {self.name}".strip(), self.start, self.end)
        if math.isinf(self.end):
            raise ClusterError(f"reservation {self.name}: needs an end; drain nodes kept for good")


def _check(what: str, start: float, end: float) -> None:
    if not (math.isfinite(start) and start < end):
        raise ClusterError(f"{what}: from {start:g} to {end:g}, expected an end after the start")
