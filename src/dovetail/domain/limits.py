"""What jobs of a user, account, QOS or partition may have at once, as Slurm's sacctmgr sets it.

>>> long = Limit(qos=("long",), each=Each.USER, jobs=4, gpus=8)
>>> long.applies(user="ann", account="physics", qos="long", partition="gpu")
True
>>> long.amounts
{'jobs': 4.0, 'gpus': 8.0}
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from enum import Enum

from dovetail.domain.errors import ClusterError
from dovetail.domain.partition_lists import split_partitions


class Each(Enum):
    """Whose use is counted together."""

    ALL = "all"  # of all jobs that the limit is about: Slurm's Grp...
    USER = "user"  # of every user by itself: MaxJobs, MaxTRESPerUser
    ACCOUNT = "account"  # MaxJobsPerAccount, MaxTRESPerAccount
    JOB = "job"  # of one job: MaxTRESPerJob, MaxWall, MaxTime, MaxNodes, MinTRES
    NODE = "node"  # of one job on each of its nodes: MaxTRESPerNode, MaxMemPerNode


AMOUNTS = ("jobs", "submitted", "gpus", "cpus", "memory_gb", "nodes", "minutes")
WORK = ("gpu_minutes", "cpu_minutes", "memory_gb_minutes", "node_minutes")
LEAST = ("least_gpus", "least_cpus", "least_memory_gb", "least_nodes")
BOUNDS = {**dict.fromkeys((*AMOUNTS, *WORK), math.inf), **dict.fromkeys(LEAST, 0.0)}
"""All that a limit may say, and the number that bounds nothing."""

_OF_A_NODE = {"gpus", "cpus", "memory_gb"}


@dataclass(frozen=True, slots=True)
class Limit:
    """The most of each amount; infinite: as much as there is. No names: jobs of any."""

    users: tuple[str, ...] = ()
    accounts: tuple[str, ...] = ()
    qos: tuple[str, ...] = ()
    partitions: tuple[str, ...] = ()
    each: Each = Each.ALL
    jobs: float = math.inf  # that run
    submitted: float = math.inf  # that wait or run
    gpus: float = math.inf
    cpus: float = math.inf
    memory_gb: float = math.inf
    nodes: float = math.inf
    minutes: float = math.inf  # of a job's time limit
    # Times the minutes that time limits leave: GrpTRESRunMins; of one job MaxTRESMins.
    gpu_minutes: float = field(default=math.inf, repr=False)
    cpu_minutes: float = field(default=math.inf, repr=False)
    memory_gb_minutes: float = field(default=math.inf, repr=False)
    node_minutes: float = field(default=math.inf, repr=False)
    # A job asks for no less: MinTRES.
    least_gpus: float = field(default=0.0, repr=False)
    least_cpus: float = field(default=0.0, repr=False)
    least_memory_gb: float = field(default=0.0, repr=False)
    least_nodes: float = field(default=0.0, repr=False)

    def __post_init__(self) -> None:
        for name in BOUNDS:  # written alike, whoever wrote it: the cluster's hash rests on it
            object.__setattr__(self, name, float(getattr(self, name)))
        for name, most in self.amounts.items():
            if not most >= 0:
                raise ClusterError(f"{self.title}: {name} is {most:g}, expected 0 or more")
        if self.each is Each.JOB and (self.jobs, self.submitted) != (math.inf, math.inf):
            raise ClusterError(f"{self.title}: a single job has no number of jobs")
        if self.each is not Each.JOB and self.minutes != math.inf:
            raise ClusterError(f'{self.title}: minutes are those of one job; say each = "job"')
        if self.each is not Each.JOB and self.amounts.keys() & LEAST:
            raise ClusterError(f'{self.title}: one job asks for the least; say each = "job"')
        if self.each is Each.NODE and self.amounts.keys() - _OF_A_NODE:
            raise ClusterError(f"{self.title}: a node has gpus, cpus and memory_gb only")

    @property
    def amounts(self) -> dict[str, float]:
        """What it bounds, and by how much."""
        every = {name: getattr(self, name) for name in BOUNDS}
        return {name: most for name, most in every.items() if most != BOUNDS[name]}

    @property
    def together(self) -> bool:
        """Whether it counts the use of several jobs."""
        return self.each not in (Each.JOB, Each.NODE)

    @property
    def level(self) -> int:
        """Of limits that count the same together, those of the lower level hold, as in Slurm."""
        return 0 if self.partitions or self.qos else 1

    def applies(
        self, user: str | None, account: str | None, qos: str | None, partition: str | None
    ) -> bool:
        """Whether it is about jobs with these names; of several partitions it names them all."""
        pairs = ((self.users, user), (self.accounts, account), (self.qos, qos))
        if not all(not names or name in names for names, name in pairs):
            return False
        own = split_partitions(partition or "")
        return not self.partitions or (bool(own) and set(own) <= set(self.partitions))

    @property
    def title(self) -> str:
        """For messages."""
        told = [
            f"{part.name} {','.join(getattr(self, part.name))[:40]}"
            for part in fields(self)[:4]
            if getattr(self, part.name)
        ]
        return f"limit of {' '.join(told) or 'all jobs'} (each {self.each.value})"
