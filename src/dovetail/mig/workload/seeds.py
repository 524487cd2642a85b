"""Which seeds draw days for what: training, validation, search and evaluation never share one.

    EvaluationDays(first=0, count=10)      # what results are reported on
    SearchDays(count=10)                   # what static configurations are searched on
    TrainingDays(run=0, count=32)          # what the training with seed 0 learns from
    ValidationDays(run=0, count=16)        # what it chooses the best by

A function that reports takes EvaluationDays, one that learns TrainingDays. The types cannot be
built outside their ranges, so that no training sees a day of an evaluation.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from dovetail.domain.errors import ConfigError

BLOCK = 1_000_000
"""Training number r has the seeds of block 2 r + 1, its validation those of block 2 r + 2; block 0
is for evaluations, and its last tenth for searches."""

SEARCHED = 900_000


@dataclass(frozen=True, slots=True)
class DaySeeds(ABC):
    """Seeds of drawn days, in a range that is for one purpose only."""

    @property
    @abstractmethod
    def seeds(self) -> range: ...

    def __len__(self) -> int:
        return len(self.seeds)

    def _check(self, count: int, most: int) -> None:
        if not 1 <= count <= most:
            raise ConfigError(f"{count} days, expected 1 to {most:,}")


@dataclass(frozen=True, slots=True)
class EvaluationDays(DaySeeds):
    """Days that results are reported on."""

    first: int = 0
    count: int = 10

    def __post_init__(self) -> None:
        self._check(self.count, SEARCHED)
        if not 0 <= self.first <= SEARCHED - self.count:
            raise ConfigError(
                f"days with seeds from {self.first} on: those from {SEARCHED:,} on are for "
                "training and for the search of static cuts; give a smaller seed"
            )

    @property
    def seeds(self) -> range:
        return range(self.first, self.first + self.count)


@dataclass(frozen=True, slots=True)
class SearchDays(DaySeeds):
    """Days on which static configurations are compared before they are evaluated."""

    count: int = 10

    def __post_init__(self) -> None:
        self._check(self.count, BLOCK - SEARCHED)

    @property
    def seeds(self) -> range:
        return range(SEARCHED, SEARCHED + self.count)


@dataclass(frozen=True, slots=True)
class _OfRun(DaySeeds):
    run: int = 0  # the seed of the training
    count: int = 1

    def __post_init__(self) -> None:
        self._check(self.count, BLOCK)
        if self.run < 0:
            raise ConfigError(f"seed is {self.run}, expected 0 or more")

    def _block(self, number: int) -> range:
        return range(BLOCK * number, BLOCK * number + self.count)


@dataclass(frozen=True, slots=True)
class TrainingDays(_OfRun):
    """Days that a training learns from."""

    @property
    def seeds(self) -> range:
        return self._block(2 * self.run + 1)


@dataclass(frozen=True, slots=True)
class ValidationDays(_OfRun):
    """Days that a training chooses the best by; it does not learn from them."""

    @property
    def seeds(self) -> range:
        return self._block(2 * self.run + 2)
