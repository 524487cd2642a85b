"""The scores of all orderings, written out with plain `math` (semantics, 4)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dovetail.domain.cluster import Cluster
from tests.oracles.reservations import Running
from tests.oracles.shapes import Job, open_partitions

WEEK = 604_800.0
YEAR = 365 * 86_400.0


@dataclass(frozen=True)
class Moment:
    """All that a score may depend on besides the job."""

    now: float
    first_submit: float
    cluster: Cluster
    fair_share: Mapping[Any, float]  # by account
    account: Any  # of the job
    forecast: tuple[float, float, float] = (0.0, 0.0, 0.0)  # its spread, skew and margin
    held: float = 0.0  # seconds: for how long GPUs in use have been held, in the mean
    free_in: float = 0.0  # seconds until they come free


def mean_use(
    now: float, cluster: Cluster, jobs: Sequence[Job], running: Sequence[Running]
) -> tuple[float, float]:
    """For how long GPUs in use have been held, and will be by estimate, in whole seconds."""
    total = held = until = 0.0
    for each in running:
        size = jobs[each.row].size(cluster)
        total += size
        held += size * math.floor(each.start)
        until += size * math.floor(min(each.estimated_end, each.start + YEAR))
    if not running:
        return 0.0, 0.0
    return max(0.0, now - held / total), max(0.0, until / total - now)


def score(name: str, job: Job, estimate: float, predicted: float, at: Moment) -> float:
    """The job's score; lower goes first, NaN counts as +∞."""
    value = _score(name, job, estimate, predicted, at)
    return math.inf if math.isnan(value) else value


def limits(name: str, job: Job, estimate: float, free_in: float) -> tuple[float, float]:
    """Below 0: may not pass a reserved job; and how many GPUs it has to leave free."""
    if name == "knowing":
        return free_in - estimate, 0.0
    if name != "careful":
        return 0.0, 0.0
    return (-1.0 if estimate > 8 * job.gpus else 1.0), (3.0 if estimate > 15 else 0.0)


def _score(name: str, job: Job, estimate: float, predicted: float, at: Moment) -> float:
    gpus, wait = job.size(at.cluster), at.now - job.submit
    match name:
        case "fcfs":
            return job.submit
        case "lcfs":
            return -job.submit
        case "sjf":
            return estimate
        case "ljf":
            return -estimate
        case "saf" | "careful":
            return gpus * estimate
        case "knowing":
            spread, skew, margin = at.forecast
            late = skew if at.held > at.free_in else margin
            return gpus * estimate * (1.0 + spread) + 10.0 * late
        case "saf-1.5":
            return gpus * math.sqrt(gpus) * estimate
        case "saf-2":
            return gpus * gpus * estimate
        case "sjf-wide":
            return estimate / gpus
        case "sjf-wide-2":
            return estimate / (gpus * gpus)
        case "sjf-aged":
            return estimate / math.sqrt((wait + estimate) / estimate)
        case "sjf-aged-fully":
            return estimate / ((wait + estimate) / estimate)
        case "sjf-aged-wide":
            return estimate / (gpus * math.sqrt((wait + estimate) / estimate))
        case "sjf-aged-wide-2":
            return estimate / (gpus * gpus * math.sqrt((wait + estimate) / estimate))
        case "wfp3":
            x = wait / estimate
            return -(x * x * x) * gpus
        case "unicep":
            return -wait / (max(1.0, math.log2(gpus)) * estimate)
        case "f1":
            since = job.submit - at.first_submit
            return math.log10(estimate) * gpus + 870.0 * math.log10(since + 1.0)
        case "edf":
            return job.deadline
        case "priority":
            return -job.priority
        case "qssf":
            return predicted * gpus
        case "slurm-multifactor":
            return -(
                1000.0 * min(1.0, wait / WEEK)
                + 1000.0 * at.fair_share[at.account]
                + 1000.0 * (gpus / total_size(at.cluster))
                + 1000.0 * partition_factor(job, at.cluster)
                + 1000.0 * qos_factor(job, at.cluster)
            )
        case "slurm-as-configured":
            priority = (
                1000.0 * min(1.0, wait / WEEK)
                + 3000.0 * at.fair_share[at.account]
                + points(job, at.cluster)
            )
            return -math.floor(max(1.0, priority))
    if name.startswith("slurm-s"):  # slurm-smaller-100-24h
        _, what, cost, *hours = name.split("-")
        size = gpus if what == "smaller" else 1.0
        left = max(0.0, 1.0 - wait / 3600.0 / float(hours[0][:-1])) if hours else 1.0
        paid = left * float(cost) * 1000.0 / WEEK * size * estimate
        return paid + _score("slurm-multifactor", job, estimate, predicted, at)
    raise ValueError(f"no formula for {name!r}")


def points(job: Job, cluster: Cluster) -> float:
    """What slurm.conf gives a job for good: for its size, partition, QOS and TRES."""

    def weight(name: str) -> float:
        return float(cluster.slurm.get(f"PriorityWeight{name}", 0))

    cpus, every = job.asks[1] / 1000, [n.cpus for n in cluster.nodes if math.isfinite(n.cpus)]
    most = max(1, *(node.gpus for node in cluster.nodes))
    part = (job.nodes or max(1, math.ceil(job.gpus / most))) / len(cluster.nodes)
    if cpus and every:
        part = (part + cpus / sum(every)) / 2
    part = min(1.0, part)
    small = cluster.slurm.get("PriorityFavorSmall") == "YES"
    found = weight("JobSize") * (1.0 - part if small else part)
    found += weight("Partition") * partition_factor(job, cluster)
    found += weight("QOS") * qos_factor(job, cluster)
    parts = open_partitions(job, cluster)
    nodes = [
        node
        for index, node in enumerate(cluster.nodes)
        if not parts or any(index in part.nodes for part in parts)
    ]
    tres = dict(
        word.split("=") for word in cluster.slurm.get("PriorityWeightTRES", "").split(",") if word
    )
    gpus = sum(node.gpus for node in nodes)
    if "gres/gpu" in tres and gpus:
        found += float(tres["gres/gpu"]) * (job.gpus / gpus)
    return found


def total_size(cluster: Cluster) -> float:
    """GPUs, or CPUs where there are none."""
    gpus = sum(node.gpus for node in cluster.nodes)
    return gpus or sum(node.cpus for node in cluster.nodes if math.isfinite(node.cpus))


def partition_factor(job: Job, cluster: Cluster) -> float:
    """The highest of its partitions' priorities relative to the highest of the cluster."""
    own = [part.priority for part in open_partitions(job, cluster)]
    return max(own) / max(part.priority for part in cluster.partitions) if own else 1.0


def qos_factor(job: Job, cluster: Cluster) -> float:
    """The QOS relative to the highest of the cluster."""
    if not cluster.qos or job.qos is None:
        return 0.0
    return cluster.qos.get(job.qos, 0.0) / max(cluster.qos.values())


class FairShare:
    """Decaying GPU usage per account."""

    def __init__(self, jobs: list[Job], half_life: float = WEEK) -> None:
        self.by_user = any(job.user is not None for job in jobs)
        named = [account for job in jobs if (account := self.account(job)) is not None]
        accounts: list[str | None] = list(dict.fromkeys(named))
        if len(named) < len(jobs):
            accounts.append(None)
        self.usage: dict[str | None, float] = dict.fromkeys(accounts, 0.0)
        self.half_life, self.last = half_life, 0.0

    def account(self, job: Job) -> str | None:
        return job.user if self.by_user else job.partition

    def advance(self, now: float, running_gpus: Mapping[str | None, float]) -> None:
        """Decay what was used, add what ran since the last event."""
        f = 2.0 ** (-(now - self.last) / self.half_life)
        for account in self.usage:
            gpus = running_gpus.get(account, 0)
            self.usage[account] = self.usage[account] * f + (
                gpus * self.half_life / math.log(2.0) * (1.0 - f)
            )
        self.last = now

    def change(self, job: Job, amounts: object, sign: int) -> None:
        """A job has started (1) or ended (-1): what runs is counted anew at every event."""

    def shares(self) -> dict[str | None, float]:
        """1 for an account that used nothing, down towards 0."""
        total = 0.0
        for used in self.usage.values():  # not sum(), which newer Pythons compensate
            total += used
        if total == 0.0:
            return dict.fromkeys(self.usage, 1.0)
        return {
            account: 2.0 ** (-(used / total) * len(self.usage))
            for account, used in self.usage.items()
        }
