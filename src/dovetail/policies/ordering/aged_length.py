"""Shortest first, unless others have waited long for what they are, or are wide.

    e / ⁴√g^wide / √S^aged        S = (w + e) / e: the slowdown that a job has already

Shortest first starves whoever is long, and on a full cluster who is wide, too; what gathers so runs
one by one later, beside idle GPUs. Divided by a root of its slowdown a job does not wait for ever.
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
    """Which root of the size and of the slowdown counts: one of each, or neither."""

    size_none: float = 1.0
    size_root: float = 0.0  # the fourth
    slowdown_none: float = 0.0
    slowdown_root: float = 0.0  # the square
    slowdown_whole: float = 0.0


@scoring
def _aged_length(
    p: Floats, jobs: JobRows, accounts: AccountRows, demands: DemandRows, cluster: ClusterRow,
    rows: Ints, out: Floats, gate: Floats, keep: Floats,
) -> None:  # fmt: skip
    for i in range(len(rows)):
        job = jobs[rows[i]]
        slowdown = (cluster[0].now - job.submit + job.estimate) / job.estimate
        # Roots and products are exact to the last bit on every machine; powers are not.
        wide = p[0] + p[1] * math.sqrt(math.sqrt(job.size))
        aged = p[2] + p[3] * math.sqrt(slowdown) + p[4] * slowdown
        out[i] = job.estimate / (wide * aged)


WIDE = Ordering(
    "sjf-wide",
    _aged_length,
    parameters=asdict(AgedLengthWeights(size_none=0.0, size_root=1.0, slowdown_none=1.0)),
    about="e / ⁴√g: shortest first, wide jobs a little sooner",
)
AGED = Ordering(
    "sjf-aged",
    _aged_length,
    Varies.ALWAYS,
    parameters=asdict(AgedLengthWeights(slowdown_root=1.0)),
    about="e / √S, S = (w + e) / e: shortest first, less so the longer one has waited",
)
AGED_WIDE = Ordering(
    "sjf-aged-wide",
    _aged_length,
    Varies.ALWAYS,
    parameters=asdict(AgedLengthWeights(size_none=0.0, size_root=1.0, slowdown_root=1.0)),
    about="e / (⁴√g · √S): the same, wide jobs a little sooner",
)
AGED_FULLY = Ordering(
    "sjf-aged-fully",
    _aged_length,
    Varies.ALWAYS,
    parameters=asdict(AgedLengthWeights(slowdown_whole=1.0)),
    about="e / S: shortest first, by far less so the longer one has waited",
)
