"""A cluster: nodes with GPUs, CPUs and memory, their switches, partitions and GPU speeds."""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from dovetail.domain.access import ANYBODY, Access
from dovetail.domain.associations import Association, check_tree
from dovetail.domain.errors import ClusterError
from dovetail.domain.limits import LEAST, WORK, Limit
from dovetail.domain.outages import MAX_CLOSURES, NodeReservation, Outage
from dovetail.domain.partition_lists import split_partitions

MAX_GPUS_PER_NODE = 64
"""A node's GPUs are the bits of one word in the simulator."""

MAX_NODES = 100_000
"""Ten times the largest cluster known; a description that names more is a mistake or an attack."""

MAX_CPUS, MAX_MEMORY_GB = 1_000_000, 1_000_000_000
"""Of one node, unless unlimited: beyond any machine, and sums of them stay exact."""

MAX_SPEED, MIN_SPEED = 1000.0, 0.001
"""Run times are divided by a speed; beyond these they would lose all meaning."""

MAX_PRIORITY = 1e12
"""Of partitions and QOS: beyond Slurm's own 32 bits."""

SETTINGS = (
    "SchedulerType",
    "SchedulerParameters",
    "PriorityType",
    "PriorityCalcPeriod",
    "PriorityDecayHalfLife",
    "PriorityMaxAge",
    "PriorityFavorSmall",
    "PriorityFlags",
    "PriorityWeightAge",
    "PriorityWeightFairshare",
    "PriorityWeightJobSize",
    "PriorityWeightPartition",
    "PriorityWeightQOS",
    "PriorityWeightTRES",
    "JobRequeue",
)
"""Settings of slurm.conf that a cluster keeps: how Slurm orders jobs, and what may pass."""

BILLED = ("cpu", "memory_gb", "gpu", "node")
"""What a partition may bill."""

ANY_TYPE = "gpu"
"""The GPU type of a cluster that names none."""

_GROUP = re.compile(r"^([0-9]+)x([0-9]+)(?::([A-Za-z0-9_.+-]+))?$")
_DIGITS = 9
"""Of a number in a specification: Python reads no integers of thousands of digits."""


@dataclass(frozen=True, slots=True)
class Node:
    """One machine. CPUs and memory are unlimited where unknown."""

    name: str
    gpus: int
    gpu_type: str = ANY_TYPE
    cpus: float = float("inf")
    memory_gb: float = float("inf")
    switch: str = "switch-0"
    mig: tuple[int, ...] = ()  # configuration number per GPU; empty: GPUs are whole
    features: tuple[str, ...] = field(default=(), repr=False)  # that jobs may ask for by name

    def __post_init__(self) -> None:
        if not 0 <= self.gpus <= MAX_GPUS_PER_NODE:
            raise ClusterError(
                f"node {self.name}: {self.gpus} GPUs, expected 0 to {MAX_GPUS_PER_NODE}"
            )
        if self.gpus == 0 and math.isinf(self.cpus):
            raise ClusterError(
                f"node {self.name}: no GPUs and no number of CPUs; give its CPUs, or leave it out"
            )
        _check_amount(self.name, "CPUs", self.cpus, MAX_CPUS)
        _check_amount(self.name, "GB of memory", self.memory_gb, MAX_MEMORY_GB)
        if self.mig and (len(self.mig) != self.gpus or min(self.mig) < 1):
            raise ClusterError(
                f"node {self.name}: mig needs one configuration number (from 1) per GPU"
            )


@dataclass(frozen=True, slots=True)
class Partition:
    """A named set of nodes; partitions may overlap. Higher priority counts in multifactor."""

    name: str
    nodes: frozenset[int]
    priority: float = 1.0
    tier: int = 1  # Slurm's PriorityTier: jobs of a higher one go first, whatever their scores
    exclusive: bool = False  # its jobs take whole nodes: OverSubscribe=EXCLUSIVE
    # What accounts with shares are charged per CPU, GB, GPU and node: TRESBillingWeights.
    billing: tuple[tuple[str, float], ...] = ()
    default_minutes: float = math.inf  # limit of a job that has none of its own; inf: unknown
    access: Access = field(default=ANYBODY)

    def __post_init__(self) -> None:
        if not 0 <= self.tier <= MAX_PRIORITY:
            raise ClusterError(f"partition {self.name}: tier is {self.tier}, expected 0 or more")
        if not 0 <= self.priority <= MAX_PRIORITY:
            raise ClusterError(
                f"partition {self.name}: priority is {self.priority:g}, "
                f"expected 0 to {MAX_PRIORITY:g}"
            )
        if not self.default_minutes > 0:
            raise ClusterError(
                f"partition {self.name}: default_minutes is {self.default_minutes:g}, expected "
                "above 0"
            )
        for what, weight in self.billing:
            if what not in BILLED or not 0 <= weight <= MAX_PRIORITY:
                raise ClusterError(
                    f"partition {self.name}: billing of {what} is {weight:g}, expected "
                    f"{', '.join(BILLED)} and 0 or more"
                )


@dataclass(frozen=True)
class Cluster:
    """Nodes in a fixed order: ties between nodes go to the earlier one.

    >>> Cluster.parse("2x8:v100,1x4:p100").total_gpus
    20
    """

    nodes: tuple[Node, ...]
    partitions: tuple[Partition, ...] = ()
    speed: Mapping[str, float] = field(default_factory=dict)  # GPU type -> factor; 1 if absent
    qos: Mapping[str, float] = field(default_factory=dict)  # QOS name -> priority; 0 if absent
    name: str = "cluster"
    # Kind of job -> GPU type -> factor, instead of the type's own.
    kind_speed: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    limits: tuple[Limit, ...] = ()
    slurm: Mapping[str, str] = field(default_factory=dict)  # settings of slurm.conf, by name
    associations: tuple[Association, ...] = ()  # the tree of accounts; none: all share alike
    outages: tuple[Outage, ...] = ()
    reservations: tuple[NodeReservation, ...] = ()
    licenses: Mapping[str, int] = field(default_factory=dict)  # how many jobs may hold at once

    def __post_init__(self) -> None:
        if not self.nodes:
            raise ClusterError(f"{self.name}: no nodes")
        if len(self.nodes) > MAX_NODES:
            raise ClusterError(f"{self.name}: {len(self.nodes):,} nodes, at most {MAX_NODES:,}")
        _refuse_repeats("node", [node.name for node in self.nodes])
        _refuse_repeats("partition", [part.name for part in self.partitions])
        for part in self.partitions:
            if not part.nodes:
                raise ClusterError(f"partition {part.name}: no nodes")
            if not all(0 <= index < len(self.nodes) for index in part.nodes):
                raise ClusterError(f"partition {part.name}: names a node that does not exist")
        closed = [index for one in self.closures for index in one.nodes]
        if len(closed) > MAX_CLOSURES:
            raise ClusterError(f"{self.name}: {len(closed):,} outages of nodes, expected fewer")
        if not all(0 <= index < len(self.nodes) for index in closed):
            raise ClusterError("an outage or reservation names a node that does not exist")
        for speeds in (self.speed, *self.kind_speed.values()):
            self._refuse_bad_speeds(speeds)
        check_tree(self.associations)
        for name, value in self.qos.items():
            if not 0 <= value <= MAX_PRIORITY:
                raise ClusterError(f"QOS {name}: {value:g}, expected 0 to {MAX_PRIORITY:g}")

    @classmethod
    def parse(cls, spec: str) -> Cluster:
        """From `64x8:v100,20x4:p100`: nodes x GPUs : type (the type may be left out)."""
        nodes: list[Node] = []
        named: Counter[str] = Counter()
        for text in spec.split(","):
            count, gpus, gpu_type = _read_group(text.strip(), spec)
            if len(nodes) + count > MAX_NODES:
                raise ClusterError(f"cluster {spec[:60]!r}: more than {MAX_NODES:,} nodes")
            start = named[gpu_type]
            nodes += [Node(f"{gpu_type}-{start + i}", gpus, gpu_type) for i in range(count)]
            named[gpu_type] += count
        return cls(tuple(nodes), name=spec)

    @cached_property
    def total_gpus(self) -> int:
        return sum(node.gpus for node in self.nodes)

    @cached_property
    def gpu_types(self) -> tuple[str, ...]:
        """Types in order of their first node."""
        return tuple(dict.fromkeys(node.gpu_type for node in self.nodes if node.gpus))

    @cached_property
    def has_features(self) -> bool:
        """Whether any node names one; else nobody is bound to them."""
        return any(node.features for node in self.nodes)

    @property
    def closures(self) -> list[Outage | NodeReservation]:
        """All that takes nodes away."""
        return [*self.outages, *self.reservations]

    @property
    def requeues(self) -> bool:
        """Whether jobs of a failed node begin again, as Slurm's do unless told otherwise."""
        return self.slurm.get("JobRequeue", "1") != "0"

    @cached_property
    def known_cpus(self) -> float:
        """Of all nodes that say how many they have."""
        return sum(node.cpus for node in self.nodes if math.isfinite(node.cpus))

    @cached_property
    def gpus_per_cpu(self) -> float:
        """What a CPU counts where jobs with and without GPUs are compared; 1 without GPUs."""
        if not self.total_gpus:
            return 1.0
        return self.total_gpus / self.known_cpus if self.known_cpus else 0.0

    @property
    def total_size(self) -> float:
        """GPUs; where there are none, CPUs."""
        return float(self.total_gpus) or self.known_cpus

    @cached_property
    def speeds_differ(self) -> bool:
        """Whether a job may be faster on one GPU type than on another."""
        kinds = (None, *self.kind_speed)
        return any(len({self.speed_of(t, kind) for t in self.gpu_types}) > 1 for kind in kinds)

    def speed_of(self, gpu_type: str, kind: str | None = None) -> float:
        """Of a GPU type, for jobs of this kind."""
        own = self.kind_speed.get(kind, {}) if kind is not None else {}
        return float(own.get(gpu_type, self.speed.get(gpu_type, 1.0)))

    def _refuse_bad_speeds(self, speeds: Mapping[str, float]) -> None:
        for gpu_type, factor in speeds.items():
            if gpu_type not in self.gpu_types:
                raise ClusterError(
                    f"speed of GPU type {gpu_type!r}: no such type; has {', '.join(self.gpu_types)}"
                )
            if not MIN_SPEED <= factor <= MAX_SPEED:
                raise ClusterError(
                    f"speed of {gpu_type}: {factor:g}, expected {MIN_SPEED:g} to {MAX_SPEED:g}"
                )

    def partitions_of(self, index: int) -> Iterator[str]:
        """Names of the partitions that node `index` belongs to."""
        return (part.name for part in self.partitions if index in part.nodes)

    def partitions_named(self, names: str | None) -> tuple[Partition, ...]:
        """Of a job that asks for "short" or "short,long" those that there are, by tier."""
        own = [part for part in self.partitions if part.name == names]  # whatever its name
        wanted = split_partitions(names or "")
        found = own or [part for part in self.partitions if part.name in wanted]
        return tuple(sorted(found, key=lambda part: -part.tier))

    def tiers(self, names: Iterable[str | None]) -> list[int]:
        """Of jobs in these partitions, 0 the highest; those in none are in tier 1."""
        ranked = sorted({1, *(part.tier for part in self.partitions)}, reverse=True)
        found = [self.partitions_named(name) for name in names]
        return [ranked.index(parts[0].tier if parts else 1) for parts in found]

    def partition_factor(self, name: str | None) -> float:
        """Priority of a partition as a share of the highest; 1 where there is none."""
        own = max((part.priority for part in self.partitions_named(name)), default=None)
        highest = max((part.priority for part in self.partitions), default=0.0)
        return own / highest if own is not None and highest > 0 else 1.0

    def qos_factor(self, name: str | None) -> float:
        """Priority of a QOS as a share of the highest; 0 where unknown."""
        highest = max(self.qos.values(), default=0.0)
        return self.qos.get(name or "", 0.0) / highest if highest > 0 else 0.0

    def digest(self) -> str:
        """A hash of everything that can change a schedule."""
        return self._digest

    @cached_property
    def _digest(self) -> str:
        parts = [(p.name, sorted(p.nodes), p.priority) for p in self.partitions]
        text = repr((self.nodes, parts, sorted(self.speed.items()), sorted(self.qos.items())))
        if self.kind_speed:  # else hashes stay what they were
            text += repr(sorted((k, sorted(v.items())) for k, v in self.kind_speed.items()))
        if any(part.tier != 1 or part.exclusive for part in self.partitions):
            text += repr([(part.tier, part.exclusive) for part in self.partitions])
        if self.limits:
            text += repr(self.limits)
        if any(limit.amounts.keys() & {*WORK, *LEAST} for limit in self.limits):
            text += repr([limit.amounts for limit in self.limits])
        rules = [(part.default_minutes, part.access) for part in self.partitions]
        if any(rule != (math.inf, ANYBODY) for rule in rules):
            text += repr(rules)
        if any(kept.access != ANYBODY for kept in self.reservations):
            text += repr([kept.access for kept in self.reservations])
        if self.associations or any(part.billing for part in self.partitions):
            text += repr((self.associations, [part.billing for part in self.partitions]))
        if self.slurm:
            text += repr(sorted(self.slurm.items()))
        if self.has_features:
            text += repr([node.features for node in self.nodes])
        if self.licenses:
            text += repr(sorted(self.licenses.items()))
        if self.outages or self.reservations:
            closed = [(sorted(c.nodes), c.start, c.end, type(c).__name__) for c in self.closures]
            text += repr(closed)
            text += repr(([outage.state for outage in self.outages], self.requeues))
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def _read_group(text: str, spec: str) -> tuple[int, int, str]:
    """Nodes, GPUs of each, and their type."""
    match = _GROUP.match(text)
    if match is None:
        raise ClusterError(
            f"cluster {spec[:60]!r}: cannot read {text[:60]!r}; write nodes x GPUs : type, "
            "for example 64x8:v100,20x4:p100, or give a .toml file"
        )
    if max(len(match[1]), len(match[2])) > _DIGITS:
        raise ClusterError(f"cluster {spec[:60]!r}: a number of more than {_DIGITS} digits")
    return int(match[1]), int(match[2]), (match[3] or ANY_TYPE).lower()


def _check_amount(node: str, what: str, amount: float, most: float) -> None:
    if not (0 < amount <= most or amount == float("inf")):
        raise ClusterError(f"node {node}: {amount:g} {what}, expected above 0, at most {most:,}")


def _refuse_repeats(what: str, names: list[str]) -> None:
    name, times = Counter(names).most_common(1)[0] if names else ("", 0)
    if times > 1:
        raise ClusterError(f"{what} {name!r} is named twice")
