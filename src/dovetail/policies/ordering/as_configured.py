"""Slurm's priority with a site's own settings: the whole number that `sprio` shows."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

from dovetail.domain.errors import ConfigError
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

AS_CONFIGURED = "slurm-as-configured"
"""The name of this order in results."""


@scoring
def _priority(
    p: Floats, jobs: JobRows, accounts: AccountRows, demands: DemandRows, cluster: ClusterRow,
    rows: Ints, out: Floats, gate: Floats, keep: Floats,
) -> None:  # fmt: skip
    for i in range(len(rows)):
        job = jobs[rows[i]]
        age = min(1.0, (cluster[0].now - job.submit) / p[2])
        priority = p[0] * age + p[1] * accounts[job.account].fair_share + job.points
        out[i] = -math.floor(max(1.0, priority))


@dataclass(frozen=True, slots=True)
class SlurmSettings:
    """What of slurm.conf changes with time, in the order that the score reads it."""

    age: float = 0.0  # PriorityWeightAge
    fair_share: float = 0.0  # PriorityWeightFairshare
    max_age: float = 7 * 86_400.0  # seconds after which age no longer grows
    half_life: float = 7 * 86_400.0  # seconds in which past use counts half

    def __post_init__(self) -> None:
        if self.max_age <= 0 or self.half_life <= 0:
            raise ConfigError("PriorityMaxAge and PriorityDecayHalfLife must be above 0 seconds")


def as_configured(settings: SlurmSettings, varies: Varies = Varies.BETWEEN_ACCOUNTS) -> Ordering:
    """Slurm's priority/multifactor; a job's facts have its points for size, TRES, partition, QOS.

    `varies`: ALWAYS where jobs that ask for the same may differ in points.
    """
    return Ordering(
        AS_CONFIGURED,
        _priority,
        varies=varies,
        parameters=asdict(settings),
        half_life=settings.half_life,
        about="Slurm's priority under the settings of the cluster's slurm.conf",
    )
