"""How long and on what placements on slices are learned, and what counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dovetail.domain.errors import ConfigError
from dovetail.domain.jobs import Floats
from dovetail.mig.agents.scores import PlayedDays
from dovetail.mig.gpus.cluster import MigCluster
from dovetail.mig.policies.learned.placement import WAITING_RULES
from dovetail.mig.workload.day import RATE, RELAXED
from dovetail.mig.workload.estimates import check_estimates
from dovetail.mig.workload.seeds import TrainingDays, ValidationDays

MIG_DAY = "8xa100-40-rounded:1,1,2,2,3,3,12,12"
"""The published cluster."""

REFERENCE = "eft"
"""The best of the published heuristics: losses are shares of what it does."""


@dataclass(frozen=True, slots=True)
class PlacementTraining:
    """How long and on what to train; stored with the checkpoint."""

    waiting_rule: str = "unsure"
    clusters: tuple[str, ...] = (MIG_DAY,)
    epochs: int = 60
    population: int = 14
    batch: int = 6  # days of each cluster that every candidate of an epoch plays
    days: int = 32  # of each cluster
    validation_days: int = 16  # of each cluster
    slack: tuple[float, float] = RELAXED
    rate: float = RATE
    hours: float = 24.0
    estimates: str = "exact,noisy:0..1.5,noisy:0..1.5,predicted"  # what is told, day by day
    tardiness: float = 0.5  # what tardiness counts beside the late share, both as shares of eft's
    energy: float = 3.0  # what energy above `energy_limit` counts
    energy_limit: float = 0.98  # of eft's energy
    spread: float = 0.3
    validate_every: int = 5
    seed: int = 0

    def __post_init__(self) -> None:
        WAITING_RULES[self.waiting_rule]
        check_estimates(self.estimates)
        for cluster in self.clusters:
            MigCluster.parse(cluster)
        for name in ("epochs", "batch", "days", "validation_days", "validate_every"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} is {getattr(self, name)}, expected 1 or more")
        if self.population < 4 or not self.clusters:
            raise ConfigError(
                f"population is {self.population} on {len(self.clusters)} clusters, "
                "expected 4 or more on at least one"
            )

    def played(self, cluster: str, chosen: TrainingDays | ValidationDays) -> PlayedDays:
        """Days that no evaluation uses, on one of the clusters."""
        return PlayedDays.of(cluster, chosen, self.slack, self.rate, self.hours, self.estimates)

    def loss(self, scores: Floats, reference: Floats) -> float:
        """Of several days [days, 3]; means are compared, since a calm day may have no late job."""
        late, tardy, energy = (scores.mean(axis=0) / np.maximum(1e-9, reference.mean(axis=0))).T
        return float(
            late + self.tardiness * tardy + self.energy * max(0.0, energy - self.energy_limit)
        )
