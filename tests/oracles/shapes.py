"""What a job may use: its shape in every pool, its options, its kinds (semantics, 1 and 2)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from dovetail.domain.cluster import Cluster, Partition
from dovetail.domain.limits import Each, Limit
from dovetail.domain.trace import Trace
from dovetail.slurm.host_lists import hosts_of
from tests.oracles.reserved_nodes import seen_nodes
from tests.oracles.type_ranks import TypeRank, alike

Amount = tuple[int, int, int]  # GPUs, thousandths of a CPU, MB
Model = tuple[str, int, int, int, tuple[str, ...], frozenset[str]]
# and the lists of jobs that name the node, and the reservation whose jobs see it so
Kind = tuple[Model, frozenset[frozenset[str]], str | None]

UNBOUNDED = 10**15
MILLI = 1000
MB_PER_GB = 1024


def minus(amount: Amount, part: Amount) -> Amount:
    return amount[0] - part[0], amount[1] - part[1], amount[2] - part[2]


def fits(part: Amount, amount: Amount) -> bool:
    return all(asked <= there for asked, there in zip(part, amount, strict=True))


@dataclass(frozen=True)
class Job:
    """One row of a trace, written out."""

    row: int
    submit: float
    run: float
    asks: Amount  # of the whole job
    nodes: int
    gpu_types: frozenset[str] | None  # None: any
    partition: str | None
    user: str | None
    qos: str | None
    kind: str | None
    mig: str | None
    priority: float
    deadline: float
    exclusive: bool
    account: str | None
    limit: float  # seconds; NaN: unknown
    constraint: str | None
    id: str
    name: str | None
    array: str | None
    dependency: str | None
    earliest: float  # seconds; NaN: as submitted
    throttle: int
    licenses: str | None
    nodelist: frozenset[str] | None
    exclude: frozenset[str]
    reservation: str | None

    @property
    def gpus(self) -> int:
        return self.asks[0]

    def size(self, cluster: Cluster) -> float:
        """What the job counts for: its GPUs, or its CPUs in GPUs."""
        if self.gpus:
            return float(self.gpus)
        known = sum(node.cpus for node in cluster.nodes if math.isfinite(node.cpus))
        gpus = sum(node.gpus for node in cluster.nodes)
        each = 1.0 if gpus == 0 else gpus / known if known else 0.0
        return max(1.0, math.ceil(self.asks[1] / MILLI * each * 1024)) / 1024

    def chunk(self, gpus: int) -> Amount:
        """What a chunk of so many GPUs asks of its node."""
        _, cpus, memory = self.asks
        if self.gpus == 0:
            each = max(1, self.nodes)
            return 0, -(-cpus // each), -(-memory // each)
        return gpus, -(-cpus * gpus // self.gpus), -(-memory * gpus // self.gpus)


def open_partitions(job: Job, cluster: Cluster) -> list[Partition]:
    """Of those that a job names the ones that it can run in, the highest tier first."""
    named = [part for part in cluster.partitions if part.name in (job.partition or "").split(",")]
    named.sort(key=lambda part: -part.tier)
    usable = [
        part
        for part in named
        if part.access.lets_in(job.user, job.account, job.qos)
        and not any(_closes(limit, job, part) for limit in cluster.limits)
    ]
    return named if len(named) < 2 else usable or named[:1]


def _closes(limit: Limit, job: Job, part: Partition) -> bool:
    """Whether a limit of the partition's single jobs keeps this one out."""
    if limit.together or part.name not in limit.partitions:
        return False
    if not limit.applies(job.user, job.account, job.qos, part.name):
        return False
    gpus, cpus, memory = job.asks
    if limit.each is Each.NODE:
        return job.nodes > 0 and (
            gpus > limit.gpus * job.nodes
            or cpus > limit.cpus * MILLI * job.nodes
            or memory > limit.memory_gb * MB_PER_GB * job.nodes
        )
    seconds = 0 if math.isnan(job.limit) else math.floor(job.limit)
    return (
        gpus < limit.least_gpus
        or cpus < limit.least_cpus * MILLI
        or memory < limit.least_memory_gb * MB_PER_GB
        or 0 < job.nodes < limit.least_nodes
        or gpus * seconds > limit.gpu_minutes * 60
        or cpus * seconds > limit.cpu_minutes * (MILLI * 60)
        or memory * seconds > limit.memory_gb_minutes * (MB_PER_GB * 60)
        or job.nodes * seconds > limit.node_minutes * 60
        or gpus > limit.gpus
        or cpus > limit.cpus * MILLI
        or memory > limit.memory_gb * MB_PER_GB
        or job.nodes > limit.nodes
        or job.limit > limit.minutes * 60
    )


def settled(job: Job, cluster: Cluster) -> Job:
    """A job that names several partitions names those that it can run in."""
    several = "," in (job.partition or "")
    names = [part.name for part in open_partitions(job, cluster)] if several else []
    return replace(job, partition=",".join(names)) if names else job


def jobs_of(trace: Trace, cluster: Cluster) -> list[Job]:
    """The rows of a trace as plain objects, as a cluster with these partitions sees them."""
    return [settled(with_limit(job, cluster), cluster) for job in _rows(trace)]


def with_limit(job: Job, cluster: Cluster) -> Job:
    """A job whose time limit is unknown has the default of its partition of the highest tier."""
    named = [part for part in cluster.partitions if part.name in (job.partition or "").split(",")]
    named.sort(key=lambda part: -part.tier)
    if not math.isnan(job.limit) or not named or math.isinf(named[0].default_minutes):
        return job
    return replace(job, limit=60 * named[0].default_minutes)


def _rows(trace: Trace) -> list[Job]:
    jobs = trace.jobs
    names = [
        column.names()
        for column in (jobs.gpu_type, jobs.partition, jobs.user, jobs.qos, jobs.kind, jobs.mig)
    ]
    rows = []
    for row in range(len(jobs)):
        gpu_type, partition, user, qos, kind, mig = (column[row] for column in names)
        nodelist = jobs.nodelist.name(int(jobs.nodelist.codes[row]))
        rows.append(
            Job(
                row,
                float(jobs.submit[row]),
                float(jobs.run[row]),
                (
                    int(jobs.gpus[row]),
                    round(float(jobs.cpus[row]) * MILLI),
                    round(float(jobs.memory[row]) * MB_PER_GB),
                ),
                int(jobs.nodes[row]),
                None if gpu_type is None else frozenset(gpu_type.split("|")),
                partition,
                user,
                qos,
                kind,
                mig,
                float(jobs.priority[row]),
                float(jobs.deadline[row]),
                bool(jobs.exclusive[row]),
                jobs.account.name(int(jobs.account.codes[row])),
                float(jobs.limit[row]),
                jobs.constraint.name(int(jobs.constraint.codes[row])),
                str(jobs.ids[row]),
                jobs.name.name(int(jobs.name.codes[row])),
                jobs.array.name(int(jobs.array.codes[row])),
                jobs.dependency.name(int(jobs.dependency.codes[row])),
                float(jobs.earliest[row]),
                int(jobs.throttle[row]),
                jobs.licenses.name(int(jobs.licenses.codes[row])),
                frozenset(hosts_of(nodelist)) if nodelist is not None else None,
                frozenset(hosts_of(jobs.exclude.name(int(jobs.exclude.codes[row])) or "")),
                jobs.reservation.name(int(jobs.reservation.codes[row])),
            )
        )
    return rows


@dataclass(frozen=True)
class Option:
    """One pool that can hold a job: `many` large chunks and `few` small ones."""

    rank: int  # by affinity
    pool: int
    large: Amount
    many: int
    small: Amount  # the large chunk if there are no small ones
    few: int
    hosts_large: tuple[int, ...]  # nodes that can ever host a large chunk
    hosts_small: tuple[int, ...]
    speed: float

    @property
    def width(self) -> int:
        """How many nodes the job needs here."""
        return self.many + self.few


class Site:
    """A cluster as the simulator sees it: whole-number capacities, kinds and pools."""

    def __init__(self, cluster: Cluster, jobs: Sequence[Job] = ()) -> None:
        self.cluster = cluster
        self.seen = seen_nodes(cluster, (job.reservation for job in jobs))
        self.nodes = [cluster.nodes[seen.real] for seen in self.seen]
        self.capacity: list[Amount] = []
        self.kind: list[Kind] = []
        lists = {names for job in jobs for names in (job.nodelist, job.exclude) if names}
        for seen, node in zip(self.seen, self.nodes, strict=True):
            room = (
                node.gpus,
                UNBOUNDED if math.isinf(node.cpus) else round(node.cpus * MILLI),
                UNBOUNDED if math.isinf(node.memory_gb) else round(node.memory_gb * MB_PER_GB),
            )
            self.capacity.append(room)
            parts = frozenset(cluster.partitions_of(seen.real))
            named = frozenset(names for names in lists if node.name in names)
            model = (node.gpu_type, *room, node.features, parts)
            self.kind.append((model, named, seen.reservation))
        self.pools = list(dict.fromkeys((node.gpu_type, node.gpus) for node in cluster.nodes))
        self.switches = list(dict.fromkeys(node.switch for node in cluster.nodes))

    def speed(self, node: int, job: Job) -> float:
        """What the kind of job is given there, else the GPU type's own."""
        if job.gpus == 0:
            return 1.0
        gpu_type = self.nodes[node].gpu_type
        own = self.cluster.kind_speed.get(job.kind or "", {})
        return own[gpu_type] if gpu_type in own else self.cluster.speed.get(gpu_type, 1.0)

    def switch(self, node: int) -> int:
        return self.switches.index(self.nodes[node].switch)

    def allows(self, job: Job, node: int) -> bool:
        """May the job use this node, by reservation, type, partition and lists of nodes?"""
        (gpu_type, *_, partitions), _, reservation = self.kind[node]
        if reservation != job.reservation:
            return False
        name = self.nodes[node].name
        if name in job.exclude or (job.nodelist is not None and name not in job.nodelist):
            return False
        if not self.has_features(job, node):
            return False
        if job.gpu_types is not None and gpu_type not in job.gpu_types:
            return False
        if not self.cluster.partitions or job.partition is None:
            return True
        return any(name in partitions for name in job.partition.split(","))

    def has_features(self, job: Job, node: int) -> bool:
        """Alternatives of features that are all asked for; without any in the cluster, yes."""
        if job.constraint is None or not any(other.features for other in self.cluster.nodes):
            return True
        there = self.nodes[node].features
        return any(
            all(name in there for name in way.split("&")) for way in job.constraint.split("|")
        )

    def options(self, job: Job, rank_of: TypeRank = alike) -> list[Option]:
        """All options in group order; none: the job is rejected.

        Where the nodes that it asks for cannot hold it, any will do.
        """
        if job.mig is not None:
            return []
        found = self.options_inside(job, rank_of)
        anywhere = not found and job.nodelist is not None
        return self.options_inside(replace(job, nodelist=None), rank_of) if anywhere else found

    def without_reservation(self, job: Job) -> Job:
        """A job whose reservation there is not, that it cannot hold, or that is not for it, is as
        any other."""
        own = [kept for kept in self.cluster.reservations if kept.name == job.reservation]
        let_in = any(kept.access.lets_in(job.user, job.account) for kept in own)
        held = let_in and self.options_inside(replace(job, nodelist=None))
        return job if job.reservation is None or held else replace(job, reservation=None)

    def options_inside(self, job: Job, rank_of: TypeRank = alike) -> list[Option]:
        """Those on the nodes that it may use."""
        if job.gpus == 0:  # GPUs, and so pools, do not matter
            nodes = [node for node in range(len(self.kind)) if self.allows(job, node)]
            return self.in_pool(job, 0, nodes, (max(1, job.nodes), 0, 0, 0), 0)
        allowed = {
            (gpu_type, size): [
                node
                for node in range(len(self.kind))
                if self.kind[node][0][:2] == (gpu_type, size) and self.allows(job, node)
            ]
            for gpu_type, size in self.pools
        }
        on_one_node = job.nodes == 0 and any(
            nodes and job.gpus <= size for (_, size), nodes in allowed.items()
        )
        options = []
        for pool, (gpu_type, size) in enumerate(self.pools):
            if (on_one_node and job.gpus > size) or size == 0:
                continue
            rank = rank_of(gpu_type, job.kind)
            split = shape(job.gpus, job.nodes, size)
            options += self.in_pool(job, pool, allowed[gpu_type, size], split, rank)
        return sorted(options, key=lambda option: (option.rank, option.width, option.pool))

    def in_pool(
        self, job: Job, pool: int, nodes: list[int], split: tuple[int, int, int, int], rank: int
    ) -> list[Option]:
        """The option of a pool, if it has enough nodes; for whole nodes one for each model."""
        many, few = split[0], split[2]
        large, small = job.chunk(split[1]), job.chunk(split[3])
        hosts = tuple(n for n in nodes if self.hosts(n, large))
        partly = tuple(n for n in nodes if self.hosts(n, small))
        if not self.takes_whole_nodes(job):
            if len(hosts) < many or len(partly) < many + few:
                return []
            speed = self.speed(hosts[0], job)
            return [Option(rank, pool, large, many, small, few, hosts, partly, speed)]
        options = []
        for model in dict.fromkeys(self.kind[n][0] for n in hosts):
            alike = tuple(n for n in hosts if self.kind[n][0] == model)
            whole, speed = self.capacity[alike[0]], self.speed(alike[0], job)
            if len(alike) >= many + few:
                options.append(Option(rank, pool, whole, many + few, whole, 0, alike, alike, speed))
        return options

    def held(self, job: Job, node: int, gpus: int) -> Amount:
        """What a running job has of a node."""
        return self.capacity[node] if self.takes_whole_nodes(job) else job.chunk(gpus)

    def takes_whole_nodes(self, job: Job) -> bool:
        parts = open_partitions(job, self.cluster)
        return job.exclusive or (bool(parts) and all(part.exclusive for part in parts))

    def hosts(self, node: int, chunk: Amount) -> bool:
        """Whether a node can ever host a chunk; one without GPUs only if its CPUs are known."""
        if chunk[0] == 0 and self.capacity[node][1] == UNBOUNDED:
            return False
        return fits(chunk, self.capacity[node])

    def kinds(self, options: Sequence[Option]) -> frozenset[Kind]:
        """The kinds of node that a job with these options can use."""
        return frozenset(self.kind[node] for option in options for node in option.hosts_small)


def shape(gpus: int, nodes: int, size: int) -> tuple[int, int, int, int]:
    """(many, large, few, small) of a job in a pool of nodes with `size` GPUs."""
    if nodes > 0:
        rest = gpus % nodes
        if rest == 0:
            return nodes, gpus // nodes, 0, gpus // nodes
        return rest, gpus // nodes + 1, nodes - rest, gpus // nodes
    if gpus <= size:
        return 1, gpus, 0, gpus
    if gpus % size == 0:
        return gpus // size, size, 0, size
    return gpus // size, size, 1, gpus % size


def groups_of(options: Sequence[Option]) -> list[list[Option]]:
    """Neighbouring one-node options of equal rank together, every other option alone."""
    groups: list[list[Option]] = []
    for option in options:
        last = groups[-1][-1] if groups else None
        if last and last.rank == option.rank and last.width == option.width == 1:
            groups[-1].append(option)
        else:
            groups.append([option])
    return groups
