"""Why jobs are not run."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from dovetail.domain.cluster import Cluster
from dovetail.domain.constraints import meets
from dovetail.slurm.host_lists import hosts_of

if TYPE_CHECKING:
    from dovetail.simulator.layout import Ask

OUTSIDE_PARTITION = "asks for a partition that this cluster does not have"
OUTSIDE_FEATURES = "asks for features that no node of its partition has"
ALL_EXCLUDED = "excludes all nodes of its partition that it could use"
OUTSIDE_TYPES = "asks for a GPU type that its partition does not have"
TOO_LARGE = "asks for more than the nodes it may use can ever give"
ASKS_MIG = "asks for MIG slices, which this simulation of whole GPUs does not have"
TOO_LONG = "asks for more time than its partition, QOS or account allows"
OVER_LIMIT = "asks for more than a limit of its user, account, QOS or partition allows"
UNDER_LIMIT = "asks for less than a job of its QOS or account has to"
NOT_LET_IN = "asks for a partition that its account or QOS may not use"
REFUSED = "was submitted when as many of its jobs waited or ran as may be"
CPUS_UNKNOWN = "asks for CPUs only, and no node that it may use says how many it has"
NEVER_RAN = "waited to the end: for jobs that never ended, or for nodes that never came back"
REASONS = (
    "",
    OUTSIDE_PARTITION,
    OUTSIDE_TYPES,
    TOO_LARGE,
    ASKS_MIG,
    CPUS_UNKNOWN,
    TOO_LONG,
    OVER_LIMIT,
    REFUSED,
    OUTSIDE_FEATURES,
    NEVER_RAN,
    ALL_EXCLUDED,
    UNDER_LIMIT,
    NOT_LET_IN,
)


def reason_of(ask: Ask, cluster: Cluster) -> int:
    """Why a demand without options is rejected."""
    parts = cluster.partitions_named(ask.partition)
    inside = [
        node
        for index, node in enumerate(cluster.nodes)
        if not cluster.partitions
        or ask.partition is None
        or any(index in part.nodes for part in parts)
    ]
    if not inside:
        return REASONS.index(OUTSIDE_PARTITION)
    if ask.constraint is not None:
        inside = [node for node in inside if meets(ask.constraint, node.features)]
        if not inside:
            return REASONS.index(OUTSIDE_FEATURES)
    if ask.exclude is not None:
        excluded = hosts_of(ask.exclude)
        inside = [node for node in inside if node.name not in excluded]
        if not inside:
            return REASONS.index(ALL_EXCLUDED)
    if ask.gpus == 0 and all(math.isinf(node.cpus) for node in inside):
        return REASONS.index(CPUS_UNKNOWN)
    types = ask.gpu_type.split("|") if ask.gpu_type else cluster.gpu_types
    known = ask.gpus == 0 or any(node.gpu_type in types for node in inside)
    return REASONS.index(TOO_LARGE if known else OUTSIDE_TYPES)
