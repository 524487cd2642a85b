"""A live cluster as the simulator knows clusters: nodes, and a window that starts from right now.

>>> snapshot = Snapshot(
...     100.0,
...     (LiveJob(17, "17", "PENDING", gpus=2, submit=1.0),),
...     (LiveNode("a", "IDLE", gpus=8),),
... )
>>> queue = queue_window_of(snapshot)
>>> queue.ids.tolist(), queue.cluster.total_gpus  # the Slurm job behind each row
([17], 8)

Running jobs go in piece by piece, one row per node: Slurm splits jobs over nodes as it likes, and
what counts is when each node becomes free. Jobs on nodes that are out of use free nothing.

Jobs without GPUs are there, too, as far as they share nodes with others: they hold CPUs and memory
that a job with GPUs needs. Nodes without GPUs are there where a partition has nodes with them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import cast

import numpy as np

from dovetail.domain.cluster import ANY_TYPE, MAX_GPUS_PER_NODE, Cluster, Node, Partition
from dovetail.domain.errors import ClusterError
from dovetail.domain.estimates import LIMIT, Estimates
from dovetail.domain.jobs import TEN_YEARS, UNKNOWN, Floats, Ints, JobColumns
from dovetail.domain.trace import Trace
from dovetail.live.cycle.gpu_speeds import GpuSpeeds
from dovetail.live.cycle.running_pieces import RunningPiece, pieces_of
from dovetail.live.cycle.waiting_table import SEVERAL, WaitingColumns, WaitingTable
from dovetail.live.model.snapshot import LiveJob, LiveNode, LivePartition, Snapshot
from dovetail.prediction.estimates import half_believed
from dovetail.simulator import Window
from dovetail.simulator.layout import MAX_KINDS, kinds_of

NO_LIMIT = 24 * 3600.0
"""Seconds that a job without any limit is taken to run."""

Estimate = Callable[[Sequence[LiveJob], float], Estimates]
"""What is told of jobs at a moment: one number for the order, one for reservations."""

_ID, _LIMIT, _PRIORITY, _PARTITIONS = (
    itemgetter(LiveJob._fields.index(name)) for name in ("id", "limit", "priority", "partitions")
)


@dataclass(frozen=True, slots=True)
class QueueWindow:
    """What is simulated, and which Slurm job each row stands for."""

    cluster: Cluster
    window: Window
    ids: Ints  # [rows] LiveJob.id
    estimates: Estimates  # [rows] what the policy is told of their run times
    columns: WaitingColumns  # [rows] what else is known of them
    left_out: Mapping[int, str] = field(default_factory=dict)  # job -> why it has no row


class QueueWindows:
    """Makes windows; keeps the cluster while nodes and partitions stay what they are, and jobs.

    Of 40 ms for 10,000 jobs on 500 nodes, 15 went into building the same cluster again.
    """

    def __init__(self, estimate: Estimate | None = None, speeds: GpuSpeeds | None = None) -> None:
        self._estimate, self._speeds = estimate or told_by_limit, speeds or GpuSpeeds()
        self._key: object = None
        self._cluster: Cluster | None = None
        self._waiting = WaitingTable()

    def of(self, snapshot: Snapshot) -> QueueWindow:
        """The state of this moment; ClusterError where there is nothing to decide."""
        cluster = self._cluster_of(snapshot)
        shared = {part.name for part in cluster.partitions}
        waiting = [
            job
            for job in snapshot.pending
            if job.gpus > 0 or (job.cpus > 0 and SEVERAL.join(job.partitions) in shared)
        ]
        index = {node.name: number for number, node in enumerate(cluster.nodes)}
        pieces, left_out = pieces_of(snapshot.running, index, cluster)
        jobs = [piece.job for piece in pieces] + waiting
        if not jobs:
            raise ClusterError("no job runs or waits on nodes with GPUs: nothing to decide")
        ids = np.fromiter(map(_ID, jobs), np.int64, len(jobs))
        told = self._estimate(jobs, snapshot.time)
        kinds = [self._speeds.kind_of(job) for job in jobs] if self._speeds.by_kind else []
        told = self._at_speed_one(told, pieces, cluster)
        order, columns, window = _window(
            snapshot, cluster, pieces, waiting, self._waiting, told.reserve, kinds, ids
        )
        return QueueWindow(cluster, window, ids[order], told.take(order), columns, left_out)

    def _at_speed_one(
        self, told: Estimates, pieces: Sequence[RunningPiece], cluster: Cluster
    ) -> Estimates:
        """What is told of running jobs is by the clock, on the GPUs that they have."""
        speeds = self._speeds
        if not (speeds.by_type or speeds.by_kind):
            return told
        factor = np.ones(len(told.seconds))
        factor[: len(pieces)] = [
            speeds.of(cluster.nodes[piece.node].gpu_type, speeds.kind_of(piece.job))
            for piece in pieces
        ]
        return replace(told, seconds=told.seconds * factor, reserve=told.reserve * factor)

    def _cluster_of(self, snapshot: Snapshot) -> Cluster:
        usable = _usable(snapshot)
        unions = {names for names in set(map(_PARTITIONS, snapshot.pending)) if len(names) > 1}
        hardware = [(n.name, n.gpus, n.gpu_type, n.cpus, n.memory_gb, n.partitions) for n in usable]
        key = (hardware, snapshot.partitions, unions)
        if key != self._key or self._cluster is None:
            cluster = cluster_of(usable, snapshot.partitions, unions)
            self._cluster, self._key = self._speeds.added_to(cluster), key
            self._waiting = WaitingTable()  # it may name partitions that are no more
        return self._cluster


def queue_window_of(snapshot: Snapshot, estimate: Estimate | None = None) -> QueueWindow:
    """The state of this moment, ready to be simulated."""
    return QueueWindows(estimate).of(snapshot)


def _usable(snapshot: Snapshot) -> list[LiveNode]:
    """Nodes with GPUs, and those without on which their partitions' jobs may run as well."""
    nodes = [node for node in snapshot.usable_nodes if node.gpus <= MAX_GPUS_PER_NODE]
    if all(node.gpus > 0 for node in nodes):
        return nodes
    beside = {name for node in nodes if node.gpus > 0 for name in node.partitions}
    return [
        node
        for node in nodes
        if node.gpus > 0 or (node.cpus > 0 and not beside.isdisjoint(node.partitions))
    ]


def cluster_of(
    usable: Sequence[LiveNode],
    partitions: Sequence[LivePartition],
    unions: Iterable[tuple[str, ...]] = (),
) -> Cluster:
    """The nodes that Slurm would use, with partitions and the unions that jobs ask for.

    Where CPUs and memory make too many kinds of nodes, they are left out, and nodes without GPUs.
    """
    with_gpus = [node for node in usable if node.gpus > 0]
    if not with_gpus:
        raise ClusterError("no node with GPUs is in use: nothing to decide")
    cluster = _cluster(usable, partitions, unions)
    return cluster if _few_kinds(cluster) else _coarse(_cluster(with_gpus, partitions, unions))


def _cluster(
    usable: Sequence[LiveNode],
    partitions: Sequence[LivePartition],
    unions: Iterable[tuple[str, ...]],
) -> Cluster:
    index = {node.name: number for number, node in enumerate(usable)}
    members = {
        part.name: frozenset(index[name] for name in part.nodes if name in index)
        for part in partitions
    }
    for node in usable:  # a backend may know partitions by their nodes only
        for name in node.partitions:
            if name not in members:
                members[name] = frozenset(index[n.name] for n in usable if name in n.partitions)
    for names in sorted(unions):
        found = [members[name] for name in names if name in members]
        members[SEVERAL.join(names)] = frozenset().union(*found)
    weight = {part.name: float(part.priority) for part in partitions}
    return Cluster(
        tuple(map(_node, usable)),
        tuple(
            Partition(name, inside, weight.get(name, 1.0))
            for name, inside in members.items()
            if inside
        ),
        name="live",
    )


def _node(node: LiveNode) -> Node:
    return Node(
        node.name,
        node.gpus,
        node.gpu_type or ANY_TYPE,
        node.cpus if node.cpus > 0 else math.inf,
        node.memory_gb if node.memory_gb > 0 else math.inf,
    )


def _few_kinds(cluster: Cluster) -> bool:
    try:
        return len(kinds_of(cluster)) <= MAX_KINDS
    except ClusterError:
        return False


def _coarse(cluster: Cluster) -> Cluster:
    """GPUs are what is short."""
    return replace(
        cluster,
        nodes=tuple(replace(node, cpus=math.inf, memory_gb=math.inf) for node in cluster.nodes),
    )


def told_by_limit(jobs: Sequence[LiveJob], now: float, power: float = 1.0) -> Estimates:
    """The users' limits as estimates, whatever the time; an order may go by a power of them."""
    return half_believed(Estimates(LIMIT, by_limit(jobs)), power)


def by_limit(jobs: Sequence[LiveJob]) -> Floats:
    """Seconds by the users' limits."""
    seconds = np.fromiter(map(_LIMIT, jobs), np.float64, len(jobs))
    return np.where((seconds > 0) & (seconds <= TEN_YEARS), seconds, NO_LIMIT)


def _window(
    snapshot: Snapshot,
    cluster: Cluster,
    pieces: Sequence[RunningPiece],
    waiting: Sequence[LiveJob],
    table: WaitingTable,
    seconds: Floats,
    kinds: Sequence[str | None],
    ids: Ints,
) -> tuple[Ints, WaitingColumns, Window]:
    """Every row is carried: pieces run, the rest waits. The future is what estimates say.

    seconds, ids: of the pieces, then of those that wait. Returns which of them each row is.
    """
    count, total = len(pieces), len(seconds)
    columns = _piece_columns(pieces, cluster, table).with_more(table.of(waiting))
    given = columns.submit
    submit = np.where(given <= snapshot.time, given, snapshot.time)  # also where it is unknown
    order = np.argsort(submit, kind="stable")
    limit = np.maximum(1.0, seconds)
    columns, runs = columns.take(order), order < count
    chosen = [pieces[row] for row in order[runs]]
    # Made of numbers in their new order: to put text into another order takes twice as long.
    labels = ids[order].astype(np.dtypes.StringDType())
    labels[runs] = [f"{piece.job.id}@{cluster.nodes[piece.node].name}" for piece in chosen]
    nodes, gpus = columns.nodes, columns.gpus
    jobs = JobColumns(
        submit=submit[order],
        run=limit[order],
        gpus=gpus,
        ids=cast(Sequence[str], labels),
        limit=limit[order],
        # One node is what a job on one node gets anyway.
        nodes=np.where((nodes > 1) & ((nodes <= gpus) | (gpus == 0)), nodes, 0),
        cpus=columns.cpus,
        memory=columns.memory,
        gpu_type=table.gpu_types.names(columns.gpu_type),
        partition=table.partitions.names(columns.partition),
        user=table.users.names(columns.user),
        qos=table.qos.names(columns.qos),
        kind=[kinds[row] for row in order.tolist()] if kinds else None,
        priority=_own_priorities(snapshot, pieces, waiting)[order],
    )
    started = np.full(total, np.nan)
    started[:count] = [_started(piece.job, snapshot.time) for piece in pieces]
    return (
        order,
        columns,
        Window(
            trace=Trace(jobs.build(), "live"),
            rows=np.arange(total),
            now=snapshot.time,
            carried=total,
            start=started[order],
            chunk_offset=np.concatenate(([0], np.cumsum(runs))).astype(np.int64),
            chunk_node=np.array([piece.node for piece in chosen], np.int64),
            chunk_gpus=np.array([piece.gpus for piece in chosen], np.uint64),
        ),
    )


def _piece_columns(
    pieces: Sequence[RunningPiece], cluster: Cluster, table: WaitingTable
) -> WaitingColumns:
    """What running jobs hold on one node each, of the type of that node, wherever they may run."""
    part = [piece.share for piece in pieces]
    types = [cluster.nodes[piece.node].gpu_type if piece.count else "" for piece in pieces]
    return WaitingColumns(
        submit=np.array([piece.job.submit for piece in pieces], np.float64),
        eligible=np.full(len(pieces), np.nan),
        gpus=np.array([piece.count for piece in pieces], np.int64),
        nodes=np.zeros(len(pieces), np.int64),
        cpus=np.array([piece.job.cpus for piece in pieces], np.float64) * part,
        memory=np.array([piece.job.memory_gb for piece in pieces], np.float64) * part,
        gpu_type=table.gpu_types.codes(types),
        partition=np.full(len(pieces), UNKNOWN, np.int64),
        user=table.users.codes([piece.job.user for piece in pieces]),
        qos=table.qos.codes([piece.job.qos for piece in pieces]),
        account=table.accounts.codes([piece.job.account for piece in pieces]),
    )


def _own_priorities(
    snapshot: Snapshot, pieces: Sequence[RunningPiece], waiting: Sequence[LiveJob]
) -> Floats:
    """What Slurm alone would give each job."""
    table = snapshot.factor_columns
    rows = table.rows_of(np.fromiter(map(_ID, waiting), np.int64, len(waiting)))
    priorities = np.empty(len(pieces) + len(waiting))
    priorities[: len(pieces)] = [piece.job.priority for piece in pieces]
    own = priorities[len(pieces) :]
    own[:] = table.own[rows] if len(table) else 0.0
    for row in np.flatnonzero(rows < 0).tolist():
        own[row] = waiting[row].priority
    return priorities


def _started(job: LiveJob, now: float) -> float:
    """When it started, at the latest just before now: it runs already."""
    return min(job.start, now - 1e-3) if job.start == job.start else now - 1e-3
