"""The obvious rule where GPUs differ in speed: the fastest for this kind of job, then best-fit.

Importing this makes it known as `fastest`, for comparisons only: an allocator that learns sees the
speeds, and should be measured against whoever sees them, too.
"""

from __future__ import annotations

from numba import carray

from dovetail.domain.node_classes import ranking
from dovetail.domain.policy import Placement
from dovetail.policies.placement import PLACEMENTS
from dovetail.policies.placement.preferences import best_fit

BY_SPEED = ("saf@gpu-affinity", "sjf@gpu-affinity", "saf@fastest", "sjf@fastest")
"""Rivals that know which GPUs are fast for which jobs."""

SPEED = 1000.0
"""More than a node has free GPUs: speed comes first."""


@ranking
def _fastest(parameters, given, count):  # type: ignore[no-untyped-def]
    classes = carray(given, (count,))
    for i in range(count):
        classes[i].preference = classes[i].free_gpus - SPEED * classes[i].speed


FASTEST = PLACEMENTS.register(
    "fastest",
    Placement("fastest", best_fit, rank=_fastest, about="the fastest node that fits, by best-fit"),
)
