"""Nodes that jobs of a reservation see, each once more than there are (semantics, reservations)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dovetail.domain.cluster import Cluster


@dataclass(frozen=True)
class Seen:
    """A node as some jobs see it: those that ask for a reservation, or all others (None)."""

    real: int
    reservation: str | None


def seen_nodes(cluster: Cluster, asked: Iterable[str | None]) -> list[Seen]:
    """All nodes, then those of each reservation that jobs ask for."""
    nodes = [Seen(node, None) for node in range(len(cluster.nodes))]
    for name in sorted({name for name in asked if name is not None}):
        own = {node for kept in cluster.reservations if kept.name == name for node in kept.nodes}
        nodes += [Seen(node, name) for node in sorted(own)]
    return nodes


def absences(cluster: Cluster, seen: Seen, now: float) -> list[tuple[float, float]]:
    """When a node is known not to be there for those who see it so."""
    here = [one for one in cluster.reservations if seen.real in one.nodes]
    others = [(one.start, one.end) for one in here if one.name != seen.reservation]
    if seen.reservation is None:
        return [(one.start, one.end) for one in here]
    spans = sorted((one.start, one.end) for one in here if one.name == seen.reservation)
    gaps, last = [], now
    for start, end in spans:
        if start > last:
            gaps.append((last, start))
        last = max(last, end)
    return [*gaps, (last, float("inf")), *others]
