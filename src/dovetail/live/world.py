"""A live cluster as the simulator knows clusters: nodes, and a window that starts from right now.

    world = world_of(snapshot, estimates)
    simulation = Simulation(world.window.trace, world.cluster, ..., warm=world.window)
    world.ids[row]                                 # the Slurm job behind a row

Running jobs go in piece by piece, one row per node: Slurm splits jobs over nodes as it likes, and
what counts is when each node becomes free. Jobs on nodes that are out of use free nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from dovetail.domain.cluster import ANY_TYPE, MAX_GPUS_PER_NODE, Cluster, Node, Partition
from dovetail.domain.errors import ClusterError
from dovetail.domain.jobs import TEN_YEARS, Floats, Ints, JobColumns
from dovetail.domain.snapshot import LiveJob, LiveNode, Snapshot
from dovetail.domain.trace import Trace
from dovetail.simulator import Window
from dovetail.simulator.layout import MAX_KINDS, kinds_of

NO_LIMIT = 24 * 3600.0
"""Seconds that a job without any limit is taken to run."""

SEVERAL = ","
"""Between partitions of a job that names several; their nodes together are one more partition."""

Estimate = Callable[[Sequence[LiveJob]], Floats]


@dataclass(frozen=True, slots=True)
class World:
    """What is simulated, and which Slurm job each row stands for."""

    cluster: Cluster
    window: Window
    ids: Ints  # [rows] LiveJob.id
    left_out: Mapping[int, str] = field(default_factory=dict)  # job -> why it has no row


@dataclass(frozen=True, slots=True)
class _Piece:
    """What one running job holds on one node."""

    job: LiveJob
    node: int
    gpus: int  # bits
    count: int


def world_of(snapshot: Snapshot, estimate: Estimate | None = None) -> World:
    """The state of this moment, ready to be simulated; ClusterError where there is nothing to."""
    waiting = [job for job in snapshot.pending if job.gpus > 0]
    cluster = cluster_of(snapshot, waiting)
    index = {node.name: number for number, node in enumerate(cluster.nodes)}
    pieces, left_out = _pieces(snapshot.running, index, cluster)
    jobs = [piece.job for piece in pieces] + waiting
    if not jobs:
        raise ClusterError("no job runs or waits for GPUs: nothing to decide")
    submit = np.array([_moment(job.submit, snapshot.time) for job in jobs])
    seconds = (estimate or by_limit)(jobs)
    order = np.argsort(submit, kind="stable")
    window = _window(snapshot, cluster, pieces, jobs, submit, seconds, order)
    return World(cluster, window, np.array([job.id for job in jobs], np.int64)[order], left_out)


def cluster_of(snapshot: Snapshot, jobs: Iterable[LiveJob] = ()) -> Cluster:
    """The nodes that Slurm would use, with partitions and the unions that jobs ask for."""
    usable = [
        node for node in snapshot.nodes if node.usable and 1 <= node.gpus <= MAX_GPUS_PER_NODE
    ]
    if not usable:
        raise ClusterError("no node with GPUs is in use: nothing to decide")
    index = {node.name: number for number, node in enumerate(usable)}
    members = {
        part.name: frozenset(index[name] for name in part.nodes if name in index)
        for part in snapshot.partitions
    }
    for node in usable:  # a backend may know partitions by their nodes only
        for name in node.partitions:
            if name not in members:
                members[name] = frozenset(index[n.name] for n in usable if name in n.partitions)
    asked = {job.partitions for job in jobs if len(job.partitions) > 1}
    for names in sorted(asked):
        found = [members[name] for name in names if name in members]
        members[SEVERAL.join(names)] = frozenset().union(*found)
    weight = {part.name: float(part.priority) for part in snapshot.partitions}
    cluster = Cluster(
        tuple(map(_node, usable)),
        tuple(
            Partition(name, inside, weight.get(name, 1.0))
            for name, inside in members.items()
            if inside
        ),
        name="live",
    )
    return cluster if _few_kinds(cluster) else _coarse(cluster)


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
    """Without CPUs and memory, which make too many kinds of nodes; GPUs are what is short."""
    return replace(
        cluster,
        nodes=tuple(replace(node, cpus=math.inf, memory_gb=math.inf) for node in cluster.nodes),
    )


def by_limit(jobs: Sequence[LiveJob]) -> Floats:
    """Estimates from the users' limits."""
    seconds = np.array([job.limit for job in jobs])
    return np.where((seconds > 0) & (seconds <= TEN_YEARS), seconds, NO_LIMIT)


def _moment(submit: float, now: float) -> float:
    """A submit time that a trace may have: known, and not after now."""
    return min(submit, now) if submit == submit else now


def _pieces(
    running: Iterable[LiveJob], index: Mapping[str, int], cluster: Cluster
) -> tuple[list[_Piece], dict[int, str]]:
    """Which GPUs running jobs hold: which ones does not matter, how many on each node does."""
    free = [(1 << node.gpus) - 1 for node in cluster.nodes]
    pieces: list[_Piece] = []
    left_out: dict[int, str] = {}
    for job in running:
        if job.gpus <= 0 or not job.hosts:
            continue
        for host, count in zip(job.hosts, _spread(job), strict=True):
            number = index.get(host)
            if number is None or count == 0:
                continue
            if free[number].bit_count() < count:
                left_out[job.id] = f"Slurm says that {host} has more GPUs in use than it has"
                continue
            bits = _lowest(free[number], count)
            free[number] ^= bits
            pieces.append(_Piece(job, number, bits, count))
    return pieces, left_out


def _spread(job: LiveJob) -> tuple[int, ...]:
    if job.host_gpus:
        return job.host_gpus
    each, more = divmod(job.gpus, len(job.hosts))
    return tuple(each + (i < more) for i in range(len(job.hosts)))


def _lowest(bits: int, count: int) -> int:
    taken = 0
    for _ in range(count):
        taken |= bits & -bits
        bits &= bits - 1
    return taken


def _window(
    snapshot: Snapshot,
    cluster: Cluster,
    pieces: Sequence[_Piece],
    jobs: Sequence[LiveJob],
    submit: Floats,
    seconds: Floats,
    order: Ints,
) -> Window:
    """Every row is carried: pieces run, the rest waits. The future is what estimates say."""
    count = len(pieces)
    gpus = np.array([piece.count for piece in pieces] + [job.gpus for job in jobs[count:]])
    share = np.ones(len(jobs))
    share[:count] = [piece.count / max(1, piece.job.gpus) for piece in pieces]
    started = np.full(len(jobs), np.nan)
    started[:count] = [_started(piece.job, snapshot.time) for piece in pieces]
    names = [node.name for node in cluster.nodes]
    limit = np.maximum(1.0, seconds)
    columns = JobColumns(
        submit=submit,
        run=limit,
        gpus=gpus,
        ids=[f"{job.id}@{names[piece.node]}" for job, piece in zip(jobs, pieces, strict=False)]
        + [str(job.id) for job in jobs[count:]],
        limit=limit,
        nodes=[0] * count + [_nodes(job) for job in jobs[count:]],
        cpus=np.array([job.cpus for job in jobs]) * share,
        memory=np.array([job.memory_gb for job in jobs]) * share,
        gpu_type=[cluster.nodes[piece.node].gpu_type for piece in pieces]
        + [job.gpu_type or None for job in jobs[count:]],
        partition=[None] * count + [SEVERAL.join(job.partitions) or None for job in jobs[count:]],
        user=[job.user or None for job in jobs],
        qos=[job.qos or None for job in jobs],
        priority=[float(_own(snapshot, job)) for job in jobs],
    )
    trace = Trace(columns.build().take(order), "live")
    held = np.array([order_row < count for order_row in order])
    chosen = [pieces[row] for row in order[held]]
    return Window(
        trace=trace,
        rows=np.arange(len(jobs)),
        now=snapshot.time,
        carried=len(jobs),
        start=started[order],
        chunk_offset=np.concatenate(([0], np.cumsum(held))).astype(np.int64),
        chunk_node=np.array([piece.node for piece in chosen], np.int64),
        chunk_gpus=np.array([piece.gpus for piece in chosen], np.uint64),
    )


def _started(job: LiveJob, now: float) -> float:
    """When it started, at the latest just before now: it runs already."""
    return min(job.start, now - 1e-3) if job.start == job.start else now - 1e-3


def _nodes(job: LiveJob) -> int:
    """Nodes that the job must be spread over; one is what a job on one node gets anyway."""
    return job.nodes if 1 < job.nodes <= job.gpus else 0


def _own(snapshot: Snapshot, job: LiveJob) -> int:
    factor = snapshot.factors.get(job.id)
    return factor.own if factor is not None else job.priority
