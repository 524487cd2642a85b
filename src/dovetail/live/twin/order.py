"""Orders that the twin replays: Slurm's own, by its configuration, and a policy's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dovetail.domain.policy import Backfill, BackfillRule, Ordering, Placement, SlurmBackfill
from dovetail.policies.ordering.aging import MultifactorWeights, slurm_multifactor
from dovetail.policies.placement import PLACEMENTS
from dovetail.slurm.durations import seconds_of


@dataclass(frozen=True, slots=True)
class Order:
    """An ordering with the placement that goes with it, and what the cluster's Slurm lets pass."""

    ordering: Ordering
    placement: Placement
    backfill: BackfillRule = field(default_factory=SlurmBackfill)


def slurm_order(settings: Mapping[str, str]) -> Order:
    """Slurm alone, by its own configuration: multifactor weights, or first come first served."""
    placement = PLACEMENTS["best-fit"]  # what cons_tres does by default
    weights = MultifactorWeights(
        age=_number(settings, "PriorityWeightAge"),
        fair_share=_number(settings, "PriorityWeightFairShare"),
        job_size=_number(settings, "PriorityWeightJobSize"),
        partition=_number(settings, "PriorityWeightPartition"),
        qos=_number(settings, "PriorityWeightQOS"),
        max_age=_seconds(settings, "PriorityMaxAge", MultifactorWeights().max_age),
        half_life=_seconds(settings, "PriorityDecayHalfLife", MultifactorWeights().half_life),
    )
    if settings.get("SchedulerType") == "sched/builtin":
        return Order(slurm_multifactor(weights), placement, Backfill.NONE)
    backfill = SlurmBackfill.of_slurm(settings.get("SchedulerParameters", ""))
    return Order(slurm_multifactor(weights), placement, backfill)


def _number(settings: Mapping[str, str], name: str) -> float:
    # scontrol spells FairShare in two ways, by version.
    text = next((v for k, v in settings.items() if k.lower() == name.lower()), "0")
    return float(text) if text.isdecimal() else 0.0


def _seconds(settings: Mapping[str, str], name: str, default: float) -> float:
    """A duration that is set and not 0, as 0 would divide by it."""
    seconds = seconds_of(settings.get(name, ""))
    return seconds if seconds > 0 else default
