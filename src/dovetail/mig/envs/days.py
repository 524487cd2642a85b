"""Which workloads the environments of sliced GPUs play: drawn once, then drawn from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from dovetail.mig.workload.day import RATE, RELAXED, mig_day
from dovetail.mig.workload.jobs import MigWorkload
from dovetail.mig.workload.seeds import TrainingDays


class Days(Protocol):
    """A seeded source of workloads."""

    def draw(self, count: int, seed: int) -> Sequence[MigWorkload]:
        """This many workloads (or all there are)."""


@dataclass(frozen=True, slots=True)
class MigDays:
    """Published MIG days; the days of one seed are those of the training with that seed."""

    slack: tuple[float, float] = RELAXED
    rate: float = RATE
    hours: float = 24.0

    def draw(self, count: int, seed: int) -> Sequence[MigWorkload]:
        seeds = TrainingDays(seed, count).seeds
        return [mig_day(each, self.slack, self.rate, self.hours) for each in seeds]


@dataclass(frozen=True, slots=True)
class GivenDays:
    """These workloads."""

    workloads: tuple[MigWorkload, ...]

    def draw(self, count: int, seed: int) -> Sequence[MigWorkload]:
        return self.workloads
