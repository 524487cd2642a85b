"""Slurm's priority with a site's own settings: the whole number that `sprio` shows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from dovetail.compiled.functions import inner
from dovetail.domain.errors import ConfigError
from dovetail.domain.jobs import Floats, Ints
from dovetail.domain.policy import (
    AccountRows,
    ClusterRow,
    DemandRows,
    JobFacts,
    JobRows,
    Ordering,
    Varies,
    scoring,
)
from dovetail.slurm.amounts import amount_of
from dovetail.slurm.durations import seconds_of

AS_CONFIGURED = "slurm-as-configured"
"""The name of this order in results."""

_WEEK = 7 * 86_400.0
_NEVER = 1e10
"""A half-life in which nothing decays: Slurm's 0."""


@inner
def configured_priority(
    p: Floats, job: JobFacts, accounts: AccountRows, cluster: ClusterRow
) -> float:
    """By the numbers of `SlurmSettings`, not rounded; the highest goes first."""
    age = min(1.0, (cluster[0].now - job.submit) / p[2])
    return p[0] * age + p[1] * accounts[job.account].fair_share + job.points


@scoring
def _priority(
    p: Floats, jobs: JobRows, accounts: AccountRows, demands: DemandRows, cluster: ClusterRow,
    rows: Ints, out: Floats, gate: Floats, keep: Floats,
) -> None:  # fmt: skip
    for i in range(len(rows)):
        out[i] = -math.floor(max(1.0, configured_priority(p, jobs[rows[i]], accounts, cluster)))


@dataclass(frozen=True, slots=True)
class SlurmSettings:
    """What of slurm.conf changes with time, in the order that the score reads it."""

    age: float = 0.0  # PriorityWeightAge
    fair_share: float = 0.0  # PriorityWeightFairshare
    max_age: float = _WEEK  # seconds after which age no longer grows
    half_life: float = _WEEK  # seconds in which past use counts half

    def __post_init__(self) -> None:
        if self.max_age <= 0 or self.half_life <= 0:
            raise ConfigError("PriorityMaxAge and PriorityDecayHalfLife must be above 0 seconds")

    @classmethod
    def of(cls, slurm: Mapping[str, str]) -> SlurmSettings:
        """From slurm.conf's own words."""
        return cls(
            age=_number(slurm.get("PriorityWeightAge", "0")),
            fair_share=_number(slurm.get("PriorityWeightFairshare", "0")),
            max_age=_seconds(slurm.get("PriorityMaxAge", ""), _WEEK) or _WEEK,
            half_life=_seconds(slurm.get("PriorityDecayHalfLife", ""), _WEEK) or _NEVER,
        )


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


def _number(text: str) -> float:
    value = amount_of(text)
    return 0.0 if math.isnan(value) else value


def _seconds(text: str, default: float) -> float:
    value = seconds_of(text)
    return default if math.isnan(value) else value
