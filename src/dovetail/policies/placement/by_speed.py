"""Which GPU types a kind of job is sent to first, by the speeds that the cluster gives."""

from __future__ import annotations

import math

from dovetail.domain.cluster import Cluster

DIGITS = 9
"""Of logarithms: types that differ by rounding alone are equal."""


def unsuitedness(cluster: Cluster, gpu_type: str, kind: str | None) -> float:
    """How much more a type slows this kind of job than it slows others.

    Others are all kinds that have speeds, and jobs without a kind; their mean is of logarithms. The
    fastest type is soon full of whoever came first: what counts is who loses least elsewhere. Of
    two kinds that a T4 slows to 0.9 and to 0.3 the first belongs there.
    """
    every = [cluster.speed_of(gpu_type, other) for other in (None, *cluster.kind_speed)]
    mean = sum(math.log(speed) for speed in every) / len(every)
    return round(mean - math.log(cluster.speed_of(gpu_type, kind)), DIGITS)
