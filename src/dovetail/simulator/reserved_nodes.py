"""Nodes of reservations that jobs ask for: to these jobs nodes of their own, there for a while.

A node of a reservation never has jobs of it and others at once. So it is two nodes to the kernels:
one that is closed while the reservation lasts, and one that is closed all other time.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from dovetail.domain.access import ANYBODY
from dovetail.domain.cluster import Cluster
from dovetail.domain.jobs import UNKNOWN, Bools, Ints, Jobs, Names
from dovetail.simulator.layout import MAX_KINDS, kinds_of


class ReservedNode(NamedTuple):
    """A node as those see it who asked for a reservation."""

    node: int  # of the cluster
    reservation: str


class ReservationSite(NamedTuple):
    """A cluster with a node more for each node of a reservation that jobs ask for."""

    jobs: Jobs  # reservations that will not do are gone
    cluster: Cluster
    reserved: tuple[ReservedNode, ...] = ()  # its last nodes
    unknown: int = 0  # jobs that ask for reservations that the cluster does not have
    left_out: int = 0  # jobs whose reservations would make too many kinds of nodes
    not_let_in: int = 0  # jobs that ask for reservations of others

    @property
    def names(self) -> dict[int, str]:
        """Node and reservation."""
        return {self._first + at: one.reservation for at, one in enumerate(self.reserved)}

    def seen(self, job: int, node: int) -> int:
        """The number of a node of the cluster to a job."""
        name = self.jobs.reservation.name(int(self.jobs.reservation.codes[job]))
        own = ReservedNode(node, name or "")
        return self._first + self.reserved.index(own) if own in self.reserved else node

    @property
    def real(self) -> Ints:
        """Which node of the cluster each is."""
        return np.array([*range(self._first), *(one.node for one in self.reserved)], np.int64)

    @property
    def _first(self) -> int:
        return len(self.cluster.nodes) - len(self.reserved)

    def closed(self, origin: float, now: float) -> Iterator[tuple[int, float, float]]:
        """When each reserved node is not there: node, start, end; inf: for good.

        It is not, either, while another reservation has the node.
        """
        for at, one in enumerate(self.reserved):
            here = [kept for kept in self.cluster.reservations if one.node in kept.nodes]
            own = sorted(
                (kept.start - origin, kept.end - origin)
                for kept in here
                if kept.name == one.reservation
            )
            begin = now
            for start, end in own:
                if start > begin:
                    yield self._first + at, begin, start
                begin = max(begin, end)
            yield self._first + at, begin, math.inf
            for kept in here:
                if kept.name != one.reservation and kept.end - origin > now:
                    start = max(kept.start - origin, now)
                    yield self._first + at, start, kept.end - origin


def open_reservations(jobs: Jobs, cluster: Cluster) -> ReservationSite:
    """Give jobs that ask for a reservation its nodes, if it is theirs."""
    if not jobs.reservation.values:
        return ReservationSite(jobs, cluster)
    strangers = _strangers(jobs, cluster)
    asked = Names(np.where(strangers, UNKNOWN, jobs.reservation.codes), jobs.reservation.values)
    nodes: dict[str, set[int]] = {}
    for kept in cluster.reservations:
        if kept.name in asked.values:
            nodes.setdefault(kept.name, set()).update(kept.nodes)
    uses = np.bincount(asked.codes[asked.codes != UNKNOWN], minlength=len(asked.values))
    by_use = [asked.values[code] for code in np.argsort(-uses, kind="stable")]
    chosen = _told_apart(cluster, {name: nodes[name] for name in by_use if name in nodes})
    reserved = tuple(ReservedNode(node, name) for name in chosen for node in sorted(nodes[name]))
    known = [name in nodes for name in asked.values]
    kept_codes = [code if name in chosen else UNKNOWN for code, name in enumerate(asked.values)]
    codes = np.array([*kept_codes, UNKNOWN], np.int64)[asked.codes]
    return ReservationSite(
        replace(jobs, reservation=Names(codes, asked.values if chosen else ())),
        _with_nodes(cluster, reserved),
        reserved,
        unknown=sum(int(uses[code]) for code, is_known in enumerate(known) if not is_known),
        left_out=sum(
            int(uses[code])
            for code, name in enumerate(asked.values)
            if known[code] and name not in chosen
        ),
        not_let_in=int(strangers.sum()),
    )


def _strangers(jobs: Jobs, cluster: Cluster) -> Bools:
    """Jobs that ask for a reservation that none of that name lets them use."""
    found = np.zeros(len(jobs), np.bool_)
    asked = jobs.reservation
    for code, name in enumerate(asked.values):
        doors = {kept.access for kept in cluster.reservations if kept.name == name}
        if not doors or ANYBODY in doors:
            continue
        for row in np.flatnonzero(asked.codes == code).tolist():
            user, account = (
                column.name(int(column.codes[row])) for column in (jobs.user, jobs.account)
            )
            found[row] = not any(door.lets_in(user, account) for door in doors)
    return found


def _told_apart(cluster: Cluster, nodes: Mapping[str, set[int]]) -> list[str]:
    """Those reservations, the first ones first, with which there are not too many kinds."""
    kinds = kinds_of(cluster)
    count, chosen = len(kinds), []
    for name, members in nodes.items():
        more = sum(not members.isdisjoint(kind.nodes) for kind in kinds)
        if count + more <= MAX_KINDS:
            count += more
            chosen.append(name)
    return chosen


def _with_nodes(cluster: Cluster, reserved: tuple[ReservedNode, ...]) -> Cluster:
    """The nodes again, in the same partitions, and down when they are."""
    if not reserved:
        return cluster
    first = len(cluster.nodes)
    again: dict[int, list[int]] = {}
    for at, one in enumerate(reserved):
        again.setdefault(one.node, []).append(first + at)

    def both(nodes: frozenset[int]) -> frozenset[int]:
        return nodes.union(*(again.get(node, ()) for node in nodes))

    return replace(
        cluster,
        nodes=cluster.nodes
        + tuple(
            replace(cluster.nodes[one.node], name=f"{cluster.nodes[one.node].name} {first + at}")
            for at, one in enumerate(reserved)
        ),
        partitions=tuple(replace(part, nodes=both(part.nodes)) for part in cluster.partitions),
        outages=tuple(replace(outage, nodes=both(outage.nodes)) for outage in cluster.outages),
    )
