"""Orderings between Slurm's own and those by size: its priority, less points for the estimate.

Each second that a job will run, or each second of each of its GPUs, costs it as many points as so
many seconds of waiting give. At 0 it is Slurm's order, at infinity that of the shortest or smallest
first: a part of the gain, for a part of what some pay.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, fields, replace

from dovetail.compiled.functions import LazyFunction
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
from dovetail.policies.ordering.aging import MultifactorWeights, multifactor_priority
from dovetail.policies.ordering.as_configured import SlurmSettings, configured_priority


@scoring
def _usual(
    p: Floats, jobs: JobRows, accounts: AccountRows, demands: DemandRows, cluster: ClusterRow,
    rows: Ints, out: Floats, gate: Floats, keep: Floats,
) -> None:  # fmt: skip
    for i in range(len(rows)):
        job = jobs[rows[i]]
        second = p[_COSTS] + p[_COSTS + 1] * job.size
        out[i] = second * job.estimate - multifactor_priority(p, job, accounts, cluster)


@scoring
def _at_site(
    p: Floats, jobs: JobRows, accounts: AccountRows, demands: DemandRows, cluster: ClusterRow,
    rows: Ints, out: Floats, gate: Floats, keep: Floats,
) -> None:  # fmt: skip
    for i in range(len(rows)):
        job = jobs[rows[i]]
        second = p[_SITE_COSTS] + p[_SITE_COSTS + 1] * job.size
        out[i] = second * job.estimate - configured_priority(p, job, accounts, cluster)


_COSTS, _SITE_COSTS = len(fields(MultifactorWeights)), len(fields(SlurmSettings))
"""Positions of the points that a second costs, and one of each GPU: behind Slurm's weights."""


def slurm_shorter(cost: float) -> Ordering:
    """Slurm's order, in which each second of the estimate counts as so many not yet waited."""
    about = f"Slurm's priority, less what {cost:g} e seconds of waiting give: shorter jobs sooner"
    return _ordering(f"slurm-shorter-{cost:g}", (cost, 0.0), about)


def slurm_smaller(cost: float) -> Ordering:
    """The same for each second of each GPU."""
    about = (
        f"Slurm's priority, less what {cost:g} g · e seconds of waiting give: smaller ones sooner"
    )
    return _ordering(f"slurm-smaller-{cost:g}", (0.0, cost), about)


def _ordering(name: str, costs: tuple[float, float], about: str) -> Ordering:
    if not all(math.isfinite(cost) and cost >= 0 for cost in costs):
        raise ConfigError(f"a second costs {max(costs)}, expected 0 or more")

    def ordering(weights: MultifactorWeights | SlurmSettings, score: LazyFunction) -> Ordering:
        second, gpu_second = (cost * weights.age / weights.max_age for cost in costs)
        return Ordering(
            name,
            score,
            Varies.ALWAYS,  # age ends to grow, and then jobs of other estimates change places
            parameters={**asdict(weights), "second": second, "gpu_second": gpu_second},
            half_life=weights.half_life,
            about=about,
        )

    usual = ordering(MultifactorWeights(), _usual)

    def configured(slurm: Mapping[str, str]) -> Ordering:
        settings = SlurmSettings.of(slurm)
        # Where waiting gives no points, nothing can be reckoned in them.
        return ordering(settings, _at_site) if settings.age > 0 else usual

    return replace(usual, at_site=configured)


SHORTER_10, SHORTER_30 = slurm_shorter(10.0), slurm_shorter(30.0)
SMALLER_3, SMALLER_10 = slurm_smaller(3.0), slurm_smaller(10.0)
