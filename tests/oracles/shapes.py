"""What a job may use: its shape in every pool, its options, its kinds (semantics, 1 and 2)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dovetail.domain.cluster import Cluster
from dovetail.domain.trace import Trace

Amount = tuple[int, int, int]  # GPUs, thousandths of a CPU, MB
Kind = tuple[str, int, int, int, frozenset[str]]

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

    @property
    def gpus(self) -> int:
        return self.asks[0]

    def chunk(self, gpus: int) -> Amount:
        """What a chunk of so many GPUs asks of its node."""
        _, cpus, memory = self.asks
        return gpus, -(-cpus * gpus // self.gpus), -(-memory * gpus // self.gpus)


def jobs_of(trace: Trace) -> list[Job]:
    """The rows of a trace as plain objects."""
    jobs = trace.jobs
    names = [
        column.names()
        for column in (jobs.gpu_type, jobs.partition, jobs.user, jobs.qos, jobs.kind, jobs.mig)
    ]
    rows = []
    for row in range(len(jobs)):
        gpu_type, partition, user, qos, kind, mig = (column[row] for column in names)
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

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.capacity: list[Amount] = []
        self.kind: list[Kind] = []
        for index, node in enumerate(cluster.nodes):
            room = (
                node.gpus,
                UNBOUNDED if math.isinf(node.cpus) else round(node.cpus * MILLI),
                UNBOUNDED if math.isinf(node.memory_gb) else round(node.memory_gb * MB_PER_GB),
            )
            self.capacity.append(room)
            self.kind.append((node.gpu_type, *room, frozenset(cluster.partitions_of(index))))
        self.pools = list(dict.fromkeys((node.gpu_type, node.gpus) for node in cluster.nodes))
        self.switches = list(dict.fromkeys(node.switch for node in cluster.nodes))

    def speed(self, node: int, job: Job) -> float:
        """What the kind of job is given there, else the GPU type's own."""
        gpu_type = self.cluster.nodes[node].gpu_type
        own = self.cluster.kind_speed.get(job.kind or "", {})
        return own[gpu_type] if gpu_type in own else self.cluster.speed.get(gpu_type, 1.0)

    def switch(self, node: int) -> int:
        return self.switches.index(self.cluster.nodes[node].switch)

    def allows(self, job: Job, node: int) -> bool:
        """May the job use this node, by type and partition?"""
        gpu_type, *_, partitions = self.kind[node]
        if job.gpu_types is not None and gpu_type not in job.gpu_types:
            return False
        if not self.cluster.partitions or job.partition is None:
            return True
        return job.partition in partitions

    def options(self, job: Job, affinity: Mapping[str, Sequence[str]]) -> list[Option]:
        """All options in group order; none: the job is rejected."""
        if job.mig is not None:
            return []
        allowed = {
            (gpu_type, size): [
                node
                for node in range(len(self.kind))
                if self.kind[node][:2] == (gpu_type, size) and self.allows(job, node)
            ]
            for gpu_type, size in self.pools
        }
        on_one_node = job.nodes == 0 and any(
            nodes and job.gpus <= size for (_, size), nodes in allowed.items()
        )
        preferred = list(affinity.get(job.kind, ())) if job.kind is not None else []
        options = []
        for pool, (gpu_type, size) in enumerate(self.pools):
            if on_one_node and job.gpus > size:
                continue
            many, large, few, small = shape(job.gpus, job.nodes, size)
            nodes = allowed[gpu_type, size]
            asks_large, asks_small = job.chunk(large), job.chunk(small)
            hosts_large = tuple(n for n in nodes if fits(asks_large, self.capacity[n]))
            hosts_small = tuple(n for n in nodes if fits(asks_small, self.capacity[n]))
            if len(hosts_large) >= many and len(hosts_small) >= many + few:
                rank = preferred.index(gpu_type) if gpu_type in preferred else len(preferred)
                options.append(
                    Option(
                        rank,
                        pool,
                        asks_large,
                        many,
                        asks_small,
                        few,
                        hosts_large,
                        hosts_small,
                        self.speed(hosts_large[0], job),
                    )
                )
        return sorted(options, key=lambda option: (option.rank, option.width, option.pool))

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
