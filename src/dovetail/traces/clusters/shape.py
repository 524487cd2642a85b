"""A cluster as it is being found in a file: nodes and partitions by name, and notes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from dovetail.domain.access import ANYBODY, Access
from dovetail.domain.associations import Association
from dovetail.domain.cluster import ANY_TYPE, MAX_NODES, Cluster, Node, Partition
from dovetail.domain.errors import ClusterError
from dovetail.domain.limits import Limit
from dovetail.domain.outages import NodeReservation, Outage, OutageState
from dovetail.traces.cells import Cells
from dovetail.traces.clusters.unread import Unread


@dataclass(frozen=True, slots=True)
class ClusterFile:
    """A cluster read from a file, and what was left out or assumed, in words."""

    cluster: Cluster
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PartitionFacts:
    """What a site says of a partition beside its nodes."""

    priority: float = 1.0
    tier: int = 1
    exclusive: bool = False
    qos: str = ""  # whose limits hold for its jobs
    billing: tuple[tuple[str, float], ...] = ()
    default_minutes: float = math.inf
    access: Access = ANYBODY


@dataclass(frozen=True, slots=True)
class Closed:
    """Nodes that were not there over [start, end); without a state they were reserved."""

    nodes: tuple[str, ...]
    start: float
    end: float
    state: OutageState | None
    words: str  # the reason, or the reservation's name
    access: Access = ANYBODY  # to a reservation


@dataclass(slots=True)
class Shape:
    """Nodes and partitions in the order in which a file names them."""

    name: str
    notes: list[str] = field(default_factory=list)
    cpu_nodes: bool = False  # nodes without GPUs are kept if their CPUs are known
    _nodes: dict[str, Node] = field(default_factory=dict)
    _members: dict[str, list[str]] = field(default_factory=dict)
    qos: dict[str, float] = field(default_factory=dict)  # name -> priority
    limits: list[Limit] = field(default_factory=list)
    slurm: dict[str, str] = field(default_factory=dict)  # settings of slurm.conf
    associations: list[Association] = field(default_factory=list)
    closed: list[Closed] = field(default_factory=list)
    licenses: dict[str, int] = field(default_factory=dict)
    unread: Unread = field(default_factory=Unread)
    enforced: str | None = None  # AccountingStorageEnforce of slurm.conf
    _facts: dict[str, PartitionFacts] = field(default_factory=dict)
    _without: int = 0

    def add(
        self,
        name: str | None,
        gpus: float | None,
        gpu_type: str | None = None,
        cpus: float | None = None,
        memory_gb: float | None = None,
        partitions: Iterable[str] = (),
        features: tuple[str, ...] = (),
    ) -> None:
        """One machine; nodes that nothing can run on are only counted."""
        if gpus is not None and not (gpus >= 0 and float(gpus).is_integer()):
            raise ClusterError(f"{self.name}: node {name} has {gpus:g} GPUs, expected 0 or more")
        if not gpus and not (self.cpu_nodes and cpus):
            self._without += 1
            return
        if name is None:
            raise ClusterError(f"{self.name}: a node with {gpus or 0:g} GPUs has no name")
        if len(self._nodes) == MAX_NODES:
            raise ClusterError(f"{self.name}: more than {MAX_NODES:,} nodes")
        if name in self._nodes:
            raise ClusterError(f"{self.name}: node {name!r} is named twice")
        self._nodes[name] = Node(
            name=name,
            gpus=int(gpus or 0),
            gpu_type=(gpu_type or ANY_TYPE).lower(),
            cpus=cpus or math.inf,
            memory_gb=memory_gb or math.inf,
            features=features,
        )
        for partition in partitions:
            self._members.setdefault(partition, []).append(name)

    def partition(
        self, name: str, members: Iterable[str] | None, facts: PartitionFacts | None = None
    ) -> None:
        """A partition by its nodes' names; None: all nodes. Nodes left out do not count."""
        names = self._nodes if members is None else [m for m in members if m in self._nodes]
        if names:
            self._members[name], self._facts[name] = list(names), facts or PartitionFacts()

    def build(self) -> ClusterFile:
        if not self._nodes:
            raise ClusterError(f"{self.name}: no node with GPUs or CPUs in it")
        index = {name: number for number, name in enumerate(self._nodes)}
        partitions = tuple(
            self._partition(name, frozenset(index[member] for member in members))
            for name, members in self._members.items()
        )
        if self._without:
            plural = "node has" if self._without == 1 else "nodes have"
            self.notes.append(f"{self._without:,} {plural} no GPU: left out")
        cluster = Cluster(
            tuple(self._nodes.values()),
            partitions,
            qos=self.qos,
            name=self.name,
            limits=(*self._known_limits(partitions), *self._partition_limits()),
            slurm=self.slurm,
            associations=tuple(self.associations),
            licenses=self.licenses,
            outages=tuple(
                Outage(nodes, one.start, one.end, one.state, one.words)
                for one, nodes in self._closed(index)
                if one.state is not None
            ),
            reservations=tuple(
                NodeReservation(
                    nodes, one.start, one.end, one.words, self._with_accounts_below(one.access)
                )
                for one, nodes in self._closed(index)
                if one.state is None
            ),
        )
        return ClusterFile(cluster, (*self.notes, *self._not_enforced(), *self.unread.notes()))

    def _not_enforced(self) -> Iterator[str]:
        named = any(limit.users or limit.accounts or limit.qos for limit in self.limits)
        words = {word.strip() for word in (self.enforced or "").lower().split(",")}
        if self.enforced is not None and named and words.isdisjoint({"limits", "safe", "all"}):
            yield (
                "AccountingStorageEnforce does not name limits: Slurm holds nobody to those of "
                "sacctmgr, a replay does"
            )

    def _with_accounts_below(self, access: Access) -> Access:
        """Who is let in by an account is let in by those below it, as in new versions of Slurm."""
        accounts = list(access.accounts)
        for name in accounts:  # grows while it is walked
            accounts += [
                one.account
                for one in self.associations
                if one.parent == name and not one.user and one.account not in accounts
            ]
        return replace(access, accounts=tuple(accounts))

    def _closed(self, index: Mapping[str, int]) -> Iterator[tuple[Closed, frozenset[int]]]:
        """Those of nodes that are there, in order of time."""
        for one in sorted(self.closed, key=lambda one: (one.start, one.end, one.nodes)):
            nodes = frozenset(index[name] for name in one.nodes if name in index)
            if nodes:
                yield one, nodes

    def _partition(self, name: str, nodes: frozenset[int]) -> Partition:
        facts = self._facts.get(name, PartitionFacts())
        return Partition(
            name, nodes, facts.priority, facts.tier, facts.exclusive, facts.billing,
            facts.default_minutes, self._with_accounts_below(facts.access),
        )  # fmt: skip

    def _known_limits(self, partitions: Iterable[Partition]) -> list[Limit]:
        """Those of partitions whose nodes were left out are left out, too; the last of a kind."""
        names = {part.name for part in partitions}
        kept = [limit for limit in self.limits if set(limit.partitions) <= names]
        return list(dict.fromkeys(kept))

    def _partition_limits(self) -> list[Limit]:
        """What the QOS of a partition bounds holds for all jobs there."""
        return [
            replace(limit, qos=(), partitions=(name,))
            for name, facts in self._facts.items()
            for limit in self.limits
            if facts.qos and limit.qos == (facts.qos,)
        ]


@dataclass(frozen=True, slots=True)
class ClusterFormat:
    """One kind of cluster file: how to know it, and how to read it."""

    name: str
    about: str
    sniff: Callable[[Path, bytes], bool]
    read: Callable[[Path], Shape]


def refuse_faults(cells: Cells) -> None:
    """Raise the first cell of a node table that could not be read."""
    faults = cells.faults()
    if not faults.is_empty():
        line, problem = faults.row(0)
        raise ClusterError(f"{cells.file} line {line}: {problem}")
