"""The obvious rule where GPUs differ in speed: the fastest type for the kind of job, by best-fit.

Importing this makes it known as `fastest`, for comparisons only: under SAF and SJF jobs wait 3 to
7 % longer by it than by best-fit, on the known parts of four histories with made-up speeds, as
whoever comes first fills the fast nodes. `suited`, which is registered, asks who loses least
elsewhere.
"""

from __future__ import annotations

from dovetail.domain.cluster import Cluster
from dovetail.domain.policy import Placement
from dovetail.policies.placement import PLACEMENTS
from dovetail.policies.placement.preferences import best_fit

BY_SPEED = tuple(
    f"{order}@{place}"
    for place in ("suited", "gpu-affinity", "fastest")
    for order in ("saf", "sjf")
)
"""Rivals that know which GPUs are fast for which jobs."""


def _slowness(cluster: Cluster, gpu_type: str, kind: str | None) -> float:
    return -cluster.speed_of(gpu_type, kind)


FASTEST = PLACEMENTS.register(
    "fastest",
    Placement("fastest", best_fit, type_cost=_slowness, about="the fastest type, by best-fit"),
)
