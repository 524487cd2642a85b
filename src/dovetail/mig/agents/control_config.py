"""How long and on what the control of sliced GPUs is learned, and what counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dovetail.domain.errors import ConfigError
from dovetail.domain.jobs import Floats
from dovetail.mig.gpus.cluster import MigCluster
from dovetail.mig.workload.day import RATE, TIGHT
from dovetail.mig.workload.estimates import (
    EXACT,
    MigEstimates,
    check_estimates,
    estimates_of_days,
)
from dovetail.mig.workload.jobs import MigWorkload
from dovetail.mig.workload.seeds import TrainingDays, ValidationDays
from dovetail.mig.workload.source import MigSource

BEST_STATIC = "8xa100-40:2,2,2,2,8,8,8,8"
"""The best static configurations for categorical-edf under tight deadlines, found by search."""


@dataclass(frozen=True, slots=True)
class ControlTraining:
    """How long and on what to train; stored with the checkpoint."""

    cluster: str = BEST_STATIC  # as it is cut at first: losses are shares of what it costs so
    slack: tuple[float, float] = TIGHT
    rate: float = RATE
    hours: float = 24.0
    days: int = 32
    validation_days: int = 16
    epochs: int = 60  # of each turn
    population: int = 20
    batch: int = 12  # days that every candidate of an epoch plays
    spread: float = 0.5
    validate_every: int = 5
    every: int = 5  # arrivals and completions between two matrices
    most_likely: int = 3  # ways that a GPU draws its next one from
    seed: int = 0
    estimates: str = EXACT  # what is told of run times

    def __post_init__(self) -> None:
        check_estimates(self.estimates)
        MigCluster.parse(self.cluster)
        for name in ("days", "validation_days", "epochs", "batch", "validate_every"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} is {getattr(self, name)}, expected 1 or more")
        if self.population < 4:
            raise ConfigError(f"population is {self.population}, expected 4 or more")

    def learning_days(self) -> Sequence[MigWorkload]:
        return self._source().days(TrainingDays(self.seed, self.days))

    def choosing_days(self) -> Sequence[MigWorkload]:
        """Other days, by which the best vector is chosen."""
        return self._source().days(ValidationDays(self.seed, self.validation_days))

    def told(self, days: Sequence[MigWorkload]) -> Sequence[MigEstimates]:
        """What policies are told of the run times on these days."""
        return estimates_of_days(days, self.estimates, self.seed)

    def _source(self) -> MigSource:
        return MigSource(slack=self.slack, rate=self.rate, hours=self.hours)


def balanced_weight(scores: Floats) -> float:
    """The `a` of ET with which tardiness counts twice as much as energy, on these days.

    scores: [days, 3] late share, mean tardiness in minutes, energy in W·min.
    """
    _, tardiness, energy = scores.mean(axis=0).tolist()
    return float(tardiness / (2.0 * energy))


def costs(scores: Floats, weight: float) -> Floats:
    """[days] ET."""
    found: Floats = (weight * scores[:, 2] + scores[:, 1]) / (weight + 1.0)
    return found
