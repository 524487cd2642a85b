"""What a live cluster says of itself at one moment: all that a scheduler may know now.

A backend makes it, whatever its source; nothing in it tells how a job will go on.

>>> snapshot = Snapshot(
...     time=100.0,
...     jobs=(LiveJob(17, "17", "PENDING", gpus=2), LiveJob(18, "18", "RUNNING", gpus=1)),
...     nodes=(LiveNode("a", "IDLE", gpus=8), LiveNode("b", "DOWN", gpus=8)),
...     factors={17: Factor(priority=1200, site=200, frozen=False)},
... )
>>> snapshot.pending[0].gpus, snapshot.site_of(17), snapshot.own_priorities[17]
(2, 200, 1000)
>>> sum(node.gpus for node in snapshot.nodes if node.usable)
8

Jobs and nodes are tuples with names: ten thousand of them are made in a tenth of the time that
frozen dataclasses take.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from dovetail.live.model.factors import Factor as Factor
from dovetail.live.model.factors import FactorColumns
from dovetail.telemetry.monitor import NodeReading

NEVER = math.nan
"""A time or a limit that is not known or not set."""


class LiveJob(NamedTuple):
    """One job, or what is left of an array that Slurm has not split yet."""

    id: int  # Slurm's own number of the record
    label: str  # what scontrol takes and people read: 17, 17_4, 17_[5-90], 17+1
    state: str  # the base state in full: PENDING, RUNNING, COMPLETING, SUSPENDED, ...
    reason: str = ""  # why it waits, in Slurm's word: Priority, Resources, JobHeldAdmin, ...
    name: str = ""
    user: str = ""
    account: str = ""
    partitions: tuple[str, ...] = ()
    qos: str = ""
    submit: float = NEVER  # seconds since 1970, all times
    eligible: float = NEVER  # when it may start: after begin time and dependencies
    start: float = NEVER  # of a running job; what is expected of a pending one is left out
    end: float = NEVER  # of an ended job
    limit: float = NEVER  # seconds; NaN: unlimited or unknown
    gpus: int = 0  # of the whole job (one task of an array)
    gpu_type: str = ""  # "a100", "a100|h100"; empty: any
    nodes: int = 0  # how many it asks for; 0: does not say
    cpus: float = 0.0
    memory_gb: float = 0.0
    features: str = ""
    wants: tuple[str, ...] = ()  # nodes that it must get
    avoids: tuple[str, ...] = ()  # nodes that it must not get
    hosts: tuple[str, ...] = ()  # nodes that it has
    host_gpus: tuple[int, ...] = ()  # on each of these; empty: spread evenly
    dependency: str = ""  # what is left of it
    reservation: str = ""
    comment: str = ""  # the admin comment, where job_submit.lua leaves its tags
    array: int = 0  # number of the array that it belongs to; 0: none
    tasks: int = 1  # of an array that is not split yet
    het: int = 0  # number of the heterogeneous job that it is a part of; 0: none
    restarts: int = 0
    priority: int = 0  # Slurm's, our site factor included; 0: held. Where the snapshot has the
    # job's factors, these tell it: here it may be an older one then
    nice: int = 0

    @property
    def pending(self) -> bool:
        return self.state == "PENDING"

    @property
    def running(self) -> bool:
        return self.state in RUNNING

    @property
    def held(self) -> bool:
        waits = self.state == "PENDING"
        return waits and (self.priority == 0 or self.reason.startswith("JobHeld"))


RUNNING = frozenset({"RUNNING", "SUSPENDED", "COMPLETING", "CONFIGURING"})
_ID = itemgetter(LiveJob._fields.index("id"))


class LiveNode(NamedTuple):
    """One node."""

    name: str
    state: str  # the base state: IDLE, MIXED, ALLOCATED, DOWN, ...
    flags: frozenset[str] = frozenset()  # DRAIN, NOT_RESPONDING, MAINTENANCE, ...
    gpus: int = 0
    gpu_type: str = ""
    cpus: float = 0.0
    memory_gb: float = 0.0
    partitions: tuple[str, ...] = ()
    features: frozenset[str] = frozenset()
    gpus_used: int = 0
    reason: str = ""

    @property
    def usable(self) -> bool:
        """Whether Slurm would start jobs on it."""
        return self.state in USABLE and not self.flags & OUT_OF_USE


USABLE = frozenset({"IDLE", "MIXED", "ALLOCATED", "COMPLETING", "PLANNED"})
OUT_OF_USE = frozenset(
    {"DRAIN", "DRAINED", "DRAINING", "DOWN", "FAIL", "NOT_RESPONDING", "NO_RESPOND", "MAINTENANCE",
     "POWERED_DOWN", "POWERING_DOWN", "INVALID_REG", "REBOOT_ISSUED", "RESERVED"}
)  # fmt: skip


class LivePartition(NamedTuple):
    """One partition."""

    name: str
    nodes: tuple[str, ...] = ()
    up: bool = True
    priority: int = 1  # PriorityJobFactor
    tier: int = 1  # PriorityTier: higher tiers go first whatever the priority
    limit: float = NEVER  # seconds


class LiveReservation(NamedTuple):
    """Nodes kept for somebody."""

    name: str
    nodes: tuple[str, ...]
    start: float
    end: float


class Share(NamedTuple):
    """An account's share of the cluster, and what it has used of late, both of all: 0 to 1."""

    account: str
    share: float
    usage: float


@dataclass(frozen=True)
class Snapshot:
    """Everything of one reading."""

    time: float  # seconds since 1970, the controller's clock where it tells
    jobs: tuple[LiveJob, ...]
    nodes: tuple[LiveNode, ...]
    partitions: tuple[LivePartition, ...] = ()
    reservations: tuple[LiveReservation, ...] = ()
    shares: tuple[Share, ...] = ()
    factors: Mapping[int, Factor] = field(default_factory=dict)  # by LiveJob.id, pending jobs only
    qos: tuple[str, ...] = ()  # the names of all QOS; empty: not known
    doubts: tuple[str, ...] = ()  # rows that could not be read, and why; such jobs are left alone
    readings: Mapping[str, NodeReading] = field(default_factory=dict)  # of GPUs, by node

    @cached_property
    def pending(self) -> tuple[LiveJob, ...]:
        return tuple([job for job in self.jobs if job.state == "PENDING"])

    @cached_property
    def others(self) -> tuple[LiveJob, ...]:
        """Jobs that do not wait: few, where many wait."""
        return tuple([job for job in self.jobs if job.state != "PENDING"])

    @cached_property
    def running(self) -> tuple[LiveJob, ...]:
        return tuple(job for job in self.others if job.state in RUNNING)

    @cached_property
    def pending_ids(self) -> frozenset[int]:
        return frozenset(map(_ID, self.pending))

    @cached_property
    def without_factors(self) -> tuple[LiveJob, ...]:
        """Waiting jobs of which Slurm tells no factors: held, not eligible yet, new."""
        known = self.factors.keys()
        if self.pending_ids <= known:
            return ()
        return tuple([job for job in self.pending if job.id not in known])

    @cached_property
    def by_id(self) -> Mapping[int, LiveJob]:
        return dict(zip(map(_ID, self.jobs), self.jobs, strict=True))

    @cached_property
    def factor_columns(self) -> FactorColumns:
        return FactorColumns.of(self.factors)

    @cached_property
    def priorities(self) -> Mapping[int, int]:
        """What every pending job has now, as far as Slurm tells its factors."""
        return self.factor_columns.shown()

    @cached_property
    def own_priorities(self) -> Mapping[int, int]:
        """What Slurm alone gives every pending job whose factors it tells."""
        return self.factor_columns.given()

    @cached_property
    def touched(self) -> frozenset[int]:
        """Jobs with a site factor or a priority set by hand, whoever did it."""
        return self.factor_columns.touched()

    @cached_property
    def site_factors(self) -> Mapping[int, int]:
        """Of jobs that have one, whoever set it; of frozen jobs Slurm shows none."""
        table = self.factor_columns
        rows = table.site != 0
        return dict(zip(table.ids[rows].tolist(), table.site[rows].tolist(), strict=True))

    @cached_property
    def usable_nodes(self) -> tuple[LiveNode, ...]:
        """Those on which Slurm would start jobs."""
        return tuple(node for node in self.nodes if node.usable)

    @cached_property
    def qos_factors(self) -> Mapping[str, int]:
        """What each QOS adds to a priority, where it adds any; of frozen jobs Slurm does not tell.

        Of jobs of one QOS the highest counts: the last, as they are sorted.
        """
        table, by_id = self.factor_columns, self.by_id
        rows = np.flatnonzero((table.qos > 0) & ~table.frozen)
        rows = rows[np.argsort(table.qos[rows], kind="stable")]
        pairs = zip(map(by_id.get, table.ids[rows].tolist()), table.qos[rows].tolist(), strict=True)
        return {job.qos: qos for job, qos in pairs if job is not None}

    def site_of(self, job: int) -> int:
        """The job's site factor; 0 where none is known."""
        factor = self.factors.get(job)
        return factor.site if factor is not None else 0
