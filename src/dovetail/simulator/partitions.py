"""What a job's partitions decide in a pass: its tier, and which nodes belong to them."""

from __future__ import annotations

import numpy as np

from dovetail.domain.cluster import Cluster
from dovetail.domain.jobs import Ints, Jobs
from dovetail.simulator.layout import Kind, Option


def tiers_of(jobs: Jobs, cluster: Cluster) -> Ints:
    """Per job, 0 the highest."""
    by_code = np.array(cluster.tiers((*jobs.partition.values, None)))  # code -1 is the last
    return by_code[jobs.partition.codes]


def partition_kinds(jobs: Jobs, cluster: Cluster, kinds: list[Kind]) -> Ints:
    """Per job the kinds of nodes of its partitions, as bits; all of them where it is in none."""
    by_code = [
        sum(1 << k for k, kind in enumerate(kinds) if not own or own & set(kind.partitions))
        for name in (*jobs.partition.values, None)  # code -1 is the last
        for own in [{part.name for part in cluster.partitions_named(name)}]
    ]
    return np.array(by_code, np.int64)[jobs.partition.codes]


def kinds_beside(every: list[list[Option]], kinds: list[Kind]) -> Ints:
    """Per demand the kinds that are for the same jobs: of its reservation, or of none."""
    used = [options[0].large_kinds if options else 0 for options in every]
    kept = [{k.reservation for n, k in enumerate(kinds) if mask >> n & 1} for mask in used]
    masks = [sum(1 << n for n, k in enumerate(kinds) if k.reservation in own) for own in kept]
    return np.array(masks, np.int64)
