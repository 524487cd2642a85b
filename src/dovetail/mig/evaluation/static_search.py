"""The best way to cut the GPUs once and for all, found by local search on common days.

    found = best_configurations(days, cluster, PLACERS["categorical-edf"], by_energy_tardiness)
    schedule = simulate_mig(day, found.cluster, PLACERS["categorical-edf"])

Only multisets matter: GPUs of one type are alike, and so are configurations that differ in the
order of slices. A step recuts one GPU; the best such step is taken until none helps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dovetail.domain.errors import ConfigError
from dovetail.mig.gpus.cluster import MigCluster
from dovetail.mig.gpus.table import GPU_MODELS
from dovetail.mig.metrics import energy_tardiness, summary
from dovetail.mig.policy import Placer
from dovetail.mig.simulator import simulate_mig
from dovetail.mig.workload.estimates import EXACT, estimates_of_days
from dovetail.mig.workload.jobs import MigWorkload

Objective = Callable[[dict[str, Any]], float]


def by_energy_tardiness(result: dict[str, Any]) -> float:
    """ET; see `mig_metrics`."""
    return float(result["energy_tardiness"])


def by_weighted(weight: float) -> Objective:
    """ET with another weight of energy."""

    def cost(result: dict[str, Any]) -> float:
        return energy_tardiness(result["tardiness_mean"], result["energy_watt_minutes"], weight)

    return cost


@dataclass(frozen=True, slots=True)
class StaticCut:
    """Where the search ended."""

    cluster: MigCluster
    cost: float  # mean of the objective over the days
    tried: int  # clusters simulated


def best_configurations(
    days: Sequence[MigWorkload],
    cluster: MigCluster,
    placer: Placer,
    objective: Objective = by_energy_tardiness,
    progress: Callable[[int], None] = lambda tried: None,
    estimates: str = EXACT,
) -> StaticCut:
    """Recut one GPU at a time, from the cluster as it is, while that lowers the mean cost.

    `progress` gets the number of clusters simulated so far.
    """
    if not days:
        raise ConfigError("no days to search on; give one at least")
    costs: dict[tuple[Any, ...], float] = {}
    told = estimates_of_days(days, estimates)

    def cost_of(candidate: MigCluster) -> float:
        key = _multiset(candidate)
        if key not in costs:
            costs[key] = float(
                np.mean(
                    [
                        objective(summary(simulate_mig(day, candidate, placer, estimates=known)))
                        for day, known in zip(days, told, strict=True)
                    ]
                )
            )
            progress(len(costs))
        return costs[key]

    best = cluster
    while True:
        nearest = min(_neighbours(best), key=cost_of)
        if cost_of(nearest) >= cost_of(best):
            return StaticCut(best, cost_of(best), len(costs))
        best = nearest


def whole_gpus(model: str, count: int) -> MigCluster:
    """So many GPUs of a model, none of them cut."""
    return MigCluster((GPU_MODELS[model],) * count, (1,) * count)


def _multiset(cluster: MigCluster) -> tuple[Any, ...]:
    """What two clusters that are the same but for order have in common."""
    cuts = zip(cluster.models, cluster.configurations, strict=True)
    return tuple(sorted((kind.name, kind.way_of(number)) for kind, number in cuts))


def _neighbours(cluster: MigCluster) -> list[MigCluster]:
    """Every cluster in which one GPU is cut otherwise."""
    found: dict[tuple[Any, ...], MigCluster] = {}
    for place, kind in enumerate(cluster.models):
        for way in kind.ways:
            numbers = list(cluster.configurations)
            numbers[place] = way[0] + 1
            candidate = cluster.with_configurations(numbers)
            found.setdefault(_multiset(candidate), candidate)
    return list(found.values())
