"""Where days for sliced GPUs come from: drawn, saved, or pods that were recorded.

MigSource().days(EvaluationDays(0, 10))                    # ten published MIG days
MigSource(slack=TIGHT).days(TrainingDays(run=0, count=32))
MigSource(pods=Path("openb.csv"), compress=100.0).day(seed=0)
MigSource(workload=Path("day.csv")).day(seed=0)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from dovetail.domain.errors import ConfigError
from dovetail.mig.workload.day import RATE, RELAXED, mig_day
from dovetail.mig.workload.file import read_mig_workload
from dovetail.mig.workload.jobs import MigWorkload
from dovetail.mig.workload.pods import mig_pods
from dovetail.mig.workload.seeds import DaySeeds


@dataclass(frozen=True, slots=True)
class MigSource:
    """A file of jobs, a file of pods, or neither: the published MIG day."""

    workload: Path | None = None
    pods: Path | None = None
    slack: tuple[float, float] = RELAXED
    rate: float = RATE
    hours: float = 24.0
    compress: float = 1.0  # of pods: divides the time between submissions

    def __post_init__(self) -> None:
        if self.workload is not None and self.pods is not None:
            raise ConfigError("a workload and pods were named; name one of them")
        if not 0 < self.slack[0] <= self.slack[1] < math.inf:
            raise ConfigError(
                f"slack is {self.slack[0]:g} to {self.slack[1]:g}, expected above 0 and ascending"
            )

    def day(self, seed: int) -> MigWorkload:
        """One day with any seed: to look at, not to report on."""
        return self._draw(range(seed, seed + 1))[0]

    def days(self, chosen: DaySeeds) -> list[MigWorkload]:
        """The days of these seeds; of pods only the deadlines are drawn."""
        return self._draw(chosen.seeds)

    def _draw(self, seeds: range) -> list[MigWorkload]:
        if self.workload is not None:
            if len(seeds) > 1:
                raise ConfigError(f"{self.workload} is one workload; ask for one day of it")
            return [read_mig_workload(self.workload)]
        if self.pods is not None:
            return [mig_pods(self.pods, each, self.slack, self.compress) for each in seeds]
        return [mig_day(each, self.slack, self.rate, self.hours) for each in seeds]
