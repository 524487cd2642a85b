"""Orderings between Slurm's own and those by size: its priority, less points for the estimate.

Each second that a job will run, or each second of each of its GPUs, costs it as many points as so
many seconds of waiting give. At 0 it is Slurm's order, at infinity that of the shortest or smallest
first: a part of the gain, for a part of what some pay. The cost may be forgiven as a job waits:
after so many hours it has Slurm's own priority again, and nobody pays for longer.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace

from dovetail.compiled.functions import LazyFunction, inner
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
from dovetail.policies.ordering.aging import MultifactorWeights, multifactor_priority
from dovetail.policies.ordering.as_configured import SlurmSettings, configured_priority

MULTIFACTOR = "priority/multifactor"
HOUR = 3600.0


@inner
def _cost(p: Floats, first: int, job: JobFacts, cluster: ClusterRow) -> float:
    """By the numbers of `_Points`, which begin at `first`."""
    waited = cluster[0].now - job.submit
    left = max(0.0, 1.0 - p[first + 2] * waited)
    return left * (p[first] + p[first + 1] * job.size) * job.estimate


@scoring
def _usual(
    p: Floats, jobs: JobRows, accounts: AccountRows, demands: DemandRows, cluster: ClusterRow,
    rows: Ints, out: Floats, gate: Floats, keep: Floats,
) -> None:  # fmt: skip
    for i in range(len(rows)):
        job = jobs[rows[i]]
        priority = multifactor_priority(p, job, accounts, cluster)
        out[i] = _cost(p, _BEHIND_WEIGHTS, job, cluster) - priority


@scoring
def _at_site(
    p: Floats, jobs: JobRows, accounts: AccountRows, demands: DemandRows, cluster: ClusterRow,
    rows: Ints, out: Floats, gate: Floats, keep: Floats,
) -> None:  # fmt: skip
    for i in range(len(rows)):
        job = jobs[rows[i]]
        priority = configured_priority(p, job, accounts, cluster)
        out[i] = _cost(p, _BEHIND_SETTINGS, job, cluster) - priority


@scoring
def _beside(
    p: Floats, jobs: JobRows, accounts: AccountRows, demands: DemandRows, cluster: ClusterRow,
    rows: Ints, out: Floats, gate: Floats, keep: Floats,
) -> None:  # fmt: skip
    for i in range(len(rows)):
        job = jobs[rows[i]]
        out[i] = _cost(p, 0, job, cluster) - job.priority


_BEHIND_WEIGHTS, _BEHIND_SETTINGS = len(fields(MultifactorWeights)), len(fields(SlurmSettings))
"""Where the numbers of `_Points` begin: behind Slurm's weights."""


@dataclass(frozen=True, slots=True)
class _Points:
    """What an estimate costs, in the order that the score reads it."""

    second: float  # points for each second of the estimate
    gpu_second: float  # and for each second of each GPU
    forgiven: float  # the part of it that each second of waiting takes off


@dataclass(frozen=True, slots=True)
class _Costs:
    """The same in seconds of waiting, whatever points these give at a site."""

    second: float = 0.0
    gpu_second: float = 0.0
    hours: float = math.inf  # of waiting, after which nothing of it is left

    def __post_init__(self) -> None:
        for cost in (self.second, self.gpu_second):
            if not (math.isfinite(cost) and cost >= 0):
                raise ConfigError(f"a second costs {cost}, expected 0 or more")
        if not self.hours > 0:
            raise ConfigError(f"a cost is forgiven after {self.hours} hours, expected more than 0")

    def points(self, weights: MultifactorWeights | SlurmSettings) -> dict[str, float]:
        """Where waiting gives points by these weights."""
        each = weights.age / weights.max_age
        forgiven = 1.0 / (HOUR * self.hours)
        return asdict(_Points(each * self.second, each * self.gpu_second, forgiven))


def slurm_shorter(cost: float, hours: float = math.inf) -> Ordering:
    """Slurm's order, in which each second of the estimate counts as so many not yet waited."""
    about = f"Slurm's priority, less what {cost:g} e seconds of waiting give"
    return _ordering(f"slurm-shorter-{cost:g}", _Costs(second=cost, hours=hours), about)


def slurm_smaller(cost: float, hours: float = math.inf) -> Ordering:
    """The same for each second of each GPU."""
    about = f"Slurm's priority, less what {cost:g} g · e seconds of waiting give"
    return _ordering(f"slurm-smaller-{cost:g}", _Costs(gpu_second=cost, hours=hours), about)


def _ordering(name: str, costs: _Costs, about: str) -> Ordering:
    if math.isfinite(costs.hours):
        name, about = f"{name}-{costs.hours:g}h", f"{about}, ever less within {costs.hours:g} hours"

    def ordering(weights: MultifactorWeights | SlurmSettings, score: LazyFunction) -> Ordering:
        return Ordering(
            name,
            score,
            Varies.ALWAYS,  # what is forgiven, and age that ends to grow, let jobs change places
            parameters={**asdict(weights), **costs.points(weights)},
            half_life=weights.half_life,
            about=about,
        )

    usual = ordering(MultifactorWeights(), _usual)

    def configured(slurm: Mapping[str, str]) -> Ordering:
        settings = SlurmSettings.of(slurm)
        # Where waiting gives no points, nothing can be reckoned in them.
        return ordering(settings, _at_site) if settings.age > 0 else usual

    def beside(slurm: Mapping[str, str]) -> Ordering:
        points = costs.points(_settings_told(name, slurm))
        return Ordering(name, _beside, Varies.ALWAYS, parameters=points, about=about)

    return replace(usual, at_site=configured, beside=beside)


def _settings_told(name: str, slurm: Mapping[str, str]) -> SlurmSettings:
    """Of a Slurm whose priorities can be bent; ConfigError of any other."""
    kind = slurm.get("PriorityType", MULTIFACTOR)
    if kind != MULTIFACTOR:
        raise ConfigError(
            f"{name} starts from the priorities that Slurm makes of age and its other factors, "
            f"and PriorityType is {kind}, which makes none: set PriorityType={MULTIFACTOR}, or "
            "name a policy that needs none, such as saf"
        )
    settings = SlurmSettings.of(slurm)
    if not settings.age > 0:
        raise ConfigError(
            f"{name} counts seconds to run in points that seconds of waiting give, and "
            "PriorityWeightAge is 0 here: give age a weight, or name a policy that needs none, "
            "such as saf"
        )
    return settings


NEAR_SLURM = (
    slurm_shorter(10.0),
    slurm_shorter(30.0),
    slurm_shorter(300.0),
    slurm_smaller(3.0),
    slurm_shorter(100.0, hours=12.0),
    slurm_shorter(100.0, hours=168.0),
    slurm_smaller(30.0, hours=6.0),
    slurm_smaller(100.0, hours=2.0),
    slurm_smaller(100.0, hours=24.0),
)
"""Those that have names: what histories chose with different waits (docs/decisions/0109)."""
