"""What a throw-away cluster is made of, as data: nodes, partitions, accounts, switches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal


@dataclass(frozen=True)
class NodeGroup:
    """Nodes that are alike; they are called `p100-1`, `p100-2`, ...

    `state` UNKNOWN is a node with a slurmd of its own; with DOWN, FUTURE or CLOUD none is
    started and the node exists on paper only. `slices` are further GPU types of the same node,
    such as MIG profiles: (("3g.20gb", 1), ("1g.5gb", 2)).
    """

    gpu: str
    count: int = 1
    gpus: int = 1
    cpus: int = 8
    memory_mb: int = 64_000
    name: str = ""
    slices: tuple[tuple[str, int], ...] = ()
    weight: int = 1
    state: Literal["UNKNOWN", "DOWN", "FUTURE", "CLOUD"] = "UNKNOWN"

    @property
    def prefix(self) -> str:
        return self.name or self.gpu

    @property
    def gres(self) -> tuple[tuple[str, int], ...]:
        own = ((self.gpu, self.gpus),) if self.gpus else ()
        return own + self.slices

    def node_names(self) -> tuple[str, ...]:
        return tuple(f"{self.prefix}-{number}" for number in range(1, self.count + 1))


@dataclass(frozen=True)
class Partition:
    """One partition; `settings` are further words of its line, such as "PriorityTier=2"."""

    name: str
    nodes: tuple[str, ...] = ("ALL",)
    settings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Qos:
    name: str
    priority: int = 0
    settings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Account:
    name: str
    shares: int = 1
    settings: tuple[str, ...] = ()


@dataclass(frozen=True)
class User:
    """A user of passwd: Slurm refuses jobs of anybody else."""

    name: str
    account: str
    shares: int = 1
    admin: Literal["None", "Operator", "Administrator"] = "None"
    settings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Accounting:
    """slurmdbd on a MariaDB of its own; who may run what is there before slurmctld starts.

    Without `limits` in `enforce`, fair-share charges a job only if it happens to run at the
    tick of PriorityCalcPeriod: eight jobs of 20 s were charged nothing.
    """

    accounts: tuple[Account, ...] = (Account("default"),)
    users: tuple[User, ...] = ()
    qos: tuple[Qos, ...] = ()
    enforce: str = "associations,limits"


RestAccess = Literal["none", "local", "jwt", "jwt over TCP"]
"""How slurmrestd is reached: not at all, by whoever runs it, or by token on a socket or a port."""

SEED_LAYOUT = (
    NodeGroup("p100", count=2, gpus=4, cpus=16, memory_mb=128_000),
    NodeGroup("k80", count=2, gpus=2, cpus=8, memory_mb=64_000),
    NodeGroup("m40", count=1, gpus=1, cpus=8, memory_mb=32_000),
)

SMALL_LAYOUT = (
    NodeGroup("p100", count=2, gpus=4, cpus=16, memory_mb=128_000),
    NodeGroup("k80", count=1, gpus=2, cpus=8, memory_mb=64_000),
)


@dataclass(frozen=True)
class Options:
    """`speed` is how many seconds pass inside the cluster while one passes outside.

    With munge it may reach 100 to 300; beyond, up to 1,000, only with auth "none". Job times
    are then wrong by about 45 ms of real time, that is 0.045 * speed seconds.
    """

    nodes: tuple[NodeGroup, ...] = SEED_LAYOUT
    partitions: tuple[Partition, ...] = (Partition("gpu"),)
    accounting: Accounting | None = None
    rest: RestAccess = "none"
    auth: Literal["munge", "none"] = "munge"
    speed: float = 1.0
    min_job_age: int = 300
    max_jobs: int = 20_000
    weights: tuple[tuple[str, int], ...] = (
        ("Age", 1000),
        ("Fairshare", 1000),
        ("JobSize", 1000),
        ("Partition", 1000),
        ("QOS", 1000),
    )
    scheduler: str = ""
    prolog: Path | None = None
    epilog: Path | None = None
    job_submit_lua: Path | None = None
    extra: Sequence[str] = field(default=())

    def __post_init__(self) -> None:
        if self.speed < 1:
            raise ValueError(f"speed is {self.speed}, expected 1 or more")
        names = [name for group in self.nodes for name in group.node_names()]
        if len(names) != len(set(names)):
            raise ValueError("two node groups share their names; give one of them a name=")

    @property
    def running_nodes(self) -> tuple[str, ...]:
        """The nodes that have a slurmd."""
        alive = (group for group in self.nodes if group.state == "UNKNOWN")
        return tuple(name for group in alive for name in group.node_names())

    @property
    def gpu_types(self) -> tuple[str, ...]:
        return tuple(sorted({kind for group in self.nodes for kind, _ in group.gres}))

    @property
    def most_gpus(self) -> int:
        """GPUs of the largest node: so many fake devices are needed."""
        return max((sum(n for _, n in group.gres) for group in self.nodes), default=0)
