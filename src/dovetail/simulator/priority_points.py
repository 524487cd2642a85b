"""What a site's slurm.conf gives a job for good: points for its size, TRES, partition and QOS.

As priority/multifactor of Slurm 22.05 to 24.11 works them out. Age and fair share change with time
and are left to the ordering.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import numpy as np

from dovetail.domain.cluster import Cluster, Node
from dovetail.domain.jobs import Floats, Jobs, Names
from dovetail.slurm.amounts import amount_of
from dovetail.slurm.tres import amounts_of

NO_PARTITION = "NO_NORMAL_PART"
NO_QOS = "NO_NORMAL_QOS"
NO_TRES = "NO_NORMAL_TRES"
BY_TIME = "SMALL_RELATIVE_TO_TIME"


def priority_points(jobs: Jobs, cluster: Cluster) -> Floats:
    """Per job; 0 where the cluster has no settings of slurm.conf."""
    if not cluster.slurm:
        return np.zeros(len(jobs))
    size = weight_of(cluster, "JobSize")
    return (
        (size * size_factor(jobs, cluster) if size else np.zeros(len(jobs)))
        + weight_of(cluster, "Partition") * _partition(jobs, cluster)
        + weight_of(cluster, "QOS") * _qos(jobs, cluster)
        + _tres_points(jobs, cluster)
    )


def weight_of(cluster: Cluster, factor: str) -> float:
    """PriorityWeight... of slurm.conf; 0 where it is not set."""
    value = amount_of(cluster.slurm.get(f"PriorityWeight{factor}", "0"))
    return 0.0 if math.isnan(value) else value


def has_flag(cluster: Cluster, flag: str) -> bool:
    words = cluster.slurm.get("PriorityFlags", "").upper().split(",")
    return flag in (word.strip() for word in words)


def size_factor(jobs: Jobs, cluster: Cluster) -> Floats:
    """0 to 1: the mean of the job's parts of the nodes and of the CPUs; with BY_TIME, over time.

    A job with no number of nodes asks for one, or for as many as its GPUs need.
    """
    most = max(1, *(node.gpus for node in cluster.nodes))
    nodes = np.where(jobs.nodes > 0, jobs.nodes, np.maximum(1, -(-jobs.gpus // most)))
    total, all_cpus = float(len(cluster.nodes)), cluster.known_cpus
    small = cluster.slurm.get("PriorityFavorSmall", "NO").upper() == "YES"
    if has_flag(cluster, BY_TIME):
        minutes = np.where(np.isnan(jobs.limit), 60.0, np.maximum(60.0, jobs.limit)) / 60.0
        cpus = np.maximum(nodes * all_cpus / total, jobs.cpus)
        factor = cpus / minutes / max(1.0, all_cpus)
        return np.clip(1.0 - factor if small else factor, 0.0, 1.0)
    share = nodes / total
    if all_cpus:
        share = np.where(jobs.cpus > 0, (share + jobs.cpus / all_cpus) / 2, share)
    return np.clip(1.0 - share if small else share, 0.0, 1.0)


def _partition(jobs: Jobs, cluster: Cluster) -> Floats:
    if not has_flag(cluster, NO_PARTITION):
        return _by_name(
            jobs.partition, [cluster.partition_factor(n) for n in _names(jobs.partition)]
        )
    own = [cluster.partitions_named(name) for name in _names(jobs.partition)]
    highest = [max((part.priority for part in found), default=0.0) for found in own]
    return _by_name(jobs.partition, highest)


def _qos(jobs: Jobs, cluster: Cluster) -> Floats:
    if not has_flag(cluster, NO_QOS):
        return _by_name(jobs.qos, [cluster.qos_factor(name) for name in _names(jobs.qos)])
    return _by_name(jobs.qos, [cluster.qos.get(name or "", 0.0) for name in _names(jobs.qos)])


def _tres_points(jobs: Jobs, cluster: Cluster) -> Floats:
    """PriorityWeightTRES: what the job asks for, as a part of what its partitions have."""
    points = np.zeros(len(jobs))
    asked = {
        "cpu": jobs.cpus,
        "mem": jobs.memory * 1024.0,
        "node": np.maximum(1, jobs.nodes).astype(np.float64),
        "gres/gpu": jobs.gpus.astype(np.float64),
    }
    for name, text in amounts_of(cluster.slurm.get("PriorityWeightTRES", "").lower()).items():
        weight = amount_of(text)
        if name not in asked or math.isnan(weight):
            continue
        if has_flag(cluster, NO_TRES):
            points += weight * asked[name]
            continue
        totals = [_total(name, _members(part, cluster)) for part in _names(jobs.partition)]
        whole = _by_name(jobs.partition, totals)
        points += weight * np.divide(asked[name], whole, out=np.zeros(len(jobs)), where=whole > 0)
    return points


def _members(partition: str | None, cluster: Cluster) -> list[Node]:
    inside = {index for part in cluster.partitions_named(partition) for index in part.nodes}
    return [cluster.nodes[index] for index in sorted(inside or range(len(cluster.nodes)))]


def _total(name: str, nodes: Iterable[Node]) -> float:
    of_node: dict[str, Callable[[Node], float]] = {
        "cpu": lambda node: node.cpus,
        "mem": lambda node: node.memory_gb * 1024.0,
        "node": lambda node: 1.0,
        "gres/gpu": lambda node: float(node.gpus),
    }
    amounts = map(of_node[name], nodes)
    return sum(amount for amount in amounts if math.isfinite(amount))


def _names(names: Names) -> tuple[str | None, ...]:
    return (*names.values, None)  # code -1 is the last


def _by_name(names: Names, values: list[float]) -> Floats:
    found: Floats = np.array(values, np.float64)[names.codes]
    return found
