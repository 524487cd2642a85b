"""Which nodes are there, and which will be as far as is known (semantics, outages)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from dovetail.domain.outages import OutageState
from tests.oracles.reserved_nodes import absences
from tests.oracles.shapes import Site


@dataclass(frozen=True)
class Closed:
    """A node that takes no jobs over [start, end)."""

    node: int
    start: float
    end: float
    kills: bool
    known: bool  # beforehand


class Availability:
    """Failures, drains and reservations, node by node; without any, all is there always."""

    def __init__(self, site: Site | None = None, now: float = 0.0) -> None:
        nodes = list(enumerate(site.seen)) if site else []
        every = [
            Closed(node, max(now, one.start), one.end, one.state is OutageState.DOWN, False)
            for one in (site.cluster.outages if site else ())
            for node, seen in nodes
            if seen.real in one.nodes
        ] + [
            Closed(node, max(now, start), end, False, True)
            for node, seen in nodes
            if site
            for start, end in absences(site.cluster, seen, now)
        ]
        self.closed = [one for one in every if one.end > now]

    @property
    def nodes(self) -> set[int]:
        return {one.node for one in self.closed}

    def after(self, now: float) -> float:
        """The next time at which something happens to a node."""
        return min((time for time in self._times() if time > now), default=math.inf)

    def count(self, now: float) -> int:
        """How many things happen to nodes at that time."""
        return sum(time == now for time in self._times())

    def failing(self, now: float) -> list[int]:
        return [one.node for one in self.closed if one.kills and one.start == now]

    def _times(self) -> Iterator[float]:
        for one in self.closed:
            yield one.start
            if one.end < math.inf:
                yield one.end

    def usable(self, node: int, start: float, end: float, now: float) -> bool:
        """Whether a node takes a job over [start, end), as far as is known now."""
        for one in self.closed:
            if one.node != node:
                continue
            if one.known and one.start < end and one.end > start:
                return False
            if not one.known and one.start <= now < one.end:
                return False
        return True

    def is_open(self, node: int, moment: float, now: float) -> bool:
        """Whether it takes jobs at a moment, as far as is known now."""
        return not any(
            one.start <= moment < one.end if one.known else one.start <= now < one.end
            for one in self.closed
            if one.node == node
        )

    def returns(self, now: float) -> list[float]:
        """Known times at which nodes come back."""
        return [one.end for one in self.closed if one.known and now < one.end < math.inf]

    def leaves(self, start: float, end: float) -> list[float]:
        """Known times within a span at which nodes go."""
        return [one.start for one in self.closed if one.known and start < one.start < end]
