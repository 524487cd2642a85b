"""Orders that the twin replays: Slurm's own, by its configuration, and a policy's."""

from __future__ import annotations

from dataclasses import dataclass, field

from dovetail.domain.cluster import Cluster
from dovetail.domain.estimates import LIMIT
from dovetail.domain.policy import BackfillRule, Ordering, Placement, SlurmBackfill
from dovetail.policies.configured import configured_policy
from dovetail.policies.placement import PLACEMENTS
from dovetail.policies.policy import Policy
from dovetail.prediction.estimates import limit_power


@dataclass(frozen=True, slots=True)
class Order:
    """An ordering with the placement that goes with it, and what the cluster's Slurm lets pass."""

    ordering: Ordering
    placement: Placement
    backfill: BackfillRule = field(default_factory=SlurmBackfill)
    limit_power: float = 1.0  # of the limits that it goes by


def order_of(policy: Policy) -> Order:
    """A policy on a Slurm with its usual backfill."""
    ordering, placement, _ = policy.parts()
    return Order(ordering, placement, limit_power=limit_power(policy.told(LIMIT)))


def slurm_order(cluster: Cluster) -> Order:
    """Slurm alone, by the settings that the cluster keeps; first come first served without any."""
    policy = configured_policy(cluster) or Policy("fcfs", SlurmBackfill().value)
    ordering, _, backfill = policy.parts()
    # Best-fit is what cons_tres does by default.
    return Order(ordering, PLACEMENTS["best-fit"], backfill)
