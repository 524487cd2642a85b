"""Which GPU types a placement tries first for a kind of job: the lowest rank."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from dovetail.domain.cluster import Cluster

TypeRank = Callable[[str, str | None], int]  # of a GPU type for a kind of job


def alike(gpu_type: str, kind: str | None) -> int:
    return 0


def listed(affinity: Mapping[str, Sequence[str]]) -> TypeRank:
    """The place in the list of the kind; types that are not in it come last."""

    def rank(gpu_type: str, kind: str | None) -> int:
        types = list(affinity.get(kind, ())) if kind is not None else []
        return types.index(gpu_type) if gpu_type in types else len(types)

    return rank


def suited(cluster: Cluster) -> TypeRank:
    """How many types suit the kind better: a type suits by its speed for the kind, to the power of
    how many kinds there are, over the product of its speeds for all of these; without logarithms.
    """
    kinds = [None, *cluster.kind_speed]

    def suits(gpu_type: str, kind: str | None) -> Fraction:
        speeds = [speed(cluster, gpu_type, other) for other in kinds]
        return speed(cluster, gpu_type, kind) ** len(kinds) / math.prod(speeds)

    def rank(gpu_type: str, kind: str | None) -> int:
        mine = suits(gpu_type, kind)
        types = {node.gpu_type for node in cluster.nodes if node.gpus}
        return sum(suits(other, kind) > mine for other in types)

    return rank


def speed(cluster: Cluster, gpu_type: str, kind: str | None) -> Fraction:
    own = cluster.kind_speed.get(kind or "", {})
    return Fraction(own[gpu_type] if gpu_type in own else cluster.speed.get(gpu_type, 1.0))
