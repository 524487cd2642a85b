"""Shortest first, unless others are wide, or have waited long for what they are.

    e / g^wide / S^aged        S = (w + e) / e: the slowdown that a job has already

Shortest first starves who is wide, and who is long; what gathers so runs one by one later, beside
idle GPUs. Wide jobs that go first leave gaps, and short and narrow ones pass through these.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

from dovetail.domain.jobs import Floats, Ints
from dovetail.domain.policy import (
    AccountRows,
    ClusterRow,
    DemandRows,
    JobRows,
    Ordering,
    Varies,
    scoring,
)


@dataclass(frozen=True, slots=True)
class AgedLengthWeights:
    """Which power of the size, and which of the slowdown: one 1 of each three."""

    size_none: float = 0.0
    size: float = 0.0
    size_square: float = 0.0
    slowdown_none: float = 0.0
    slowdown_root: float = 0.0
    slowdown: float = 0.0


@scoring
def _aged_length(
    p: Floats, jobs: JobRows, accounts: AccountRows, demands: DemandRows, cluster: ClusterRow,
    rows: Ints, out: Floats, gate: Floats, keep: Floats,
) -> None:  # fmt: skip
    for i in range(len(rows)):
        job = jobs[rows[i]]
        slowdown = (cluster[0].now - job.submit + job.estimate) / job.estimate
        # Roots and products are exact to the last bit on every machine; powers are not.
        wide = p[0] + p[1] * job.size + p[2] * (job.size * job.size)
        aged = p[3] + p[4] * math.sqrt(slowdown) + p[5] * slowdown
        out[i] = job.estimate / (wide * aged)


def _ordering(name: str, weights: AgedLengthWeights, about: str) -> Ordering:
    varies = Varies.NEVER if weights.slowdown_none else Varies.ALWAYS
    return Ordering(name, _aged_length, varies, parameters=asdict(weights), about=about)


# In these lines e is the estimate, g GPUs, S the slowdown so far; the lowest score goes first.
WIDE = _ordering(
    "sjf-wide",
    AgedLengthWeights(size=1.0, slowdown_none=1.0),
    "e / g: shortest first, wide jobs sooner",
)
WIDE_2 = _ordering(
    "sjf-wide-2",
    AgedLengthWeights(size_square=1.0, slowdown_none=1.0),
    "e / g²: shortest first, wide jobs much sooner",
)
AGED = _ordering(
    "sjf-aged",
    AgedLengthWeights(size_none=1.0, slowdown_root=1.0),
    "e / √S, S = (w + e) / e: shortest first, less so the longer one has waited",
)
AGED_FULLY = _ordering(
    "sjf-aged-fully",
    AgedLengthWeights(size_none=1.0, slowdown=1.0),
    "e / S: shortest first, by far less so the longer one has waited",
)
AGED_WIDE = _ordering(
    "sjf-aged-wide",
    AgedLengthWeights(size=1.0, slowdown_root=1.0),
    "e / (g · √S): shortest first, wide jobs and those that have waited sooner",
)
AGED_WIDE_2 = _ordering(
    "sjf-aged-wide-2",
    AgedLengthWeights(size_square=1.0, slowdown_root=1.0),
    "e / (g² · √S): the same, wide jobs much sooner",
)
LIKE_SHORTEST = (WIDE, WIDE_2, AGED, AGED_FULLY, AGED_WIDE, AGED_WIDE_2)
