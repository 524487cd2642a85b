"""Where days for sliced GPUs come from: drawn, saved, or pods that were recorded.

MigSource().days(count=10, seed=0)                         # ten published MIG days
MigSource(pods=Path("openb.csv"), compress=100.0).days(1, seed=0)
MigSource(workload=Path("day.csv")).days(1, seed=0)
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dovetail.domain.errors import ConfigError
from dovetail.mig.workload.day import RATE, RELAXED, mig_day
from dovetail.mig.workload.file import read_mig_workload
from dovetail.mig.workload.jobs import MigWorkload
from dovetail.mig.workload.pods import mig_pods


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
        if not 0 < self.slack[0] <= self.slack[1]:
            raise ConfigError(
                f"slack is {self.slack[0]:g} to {self.slack[1]:g}, expected above 0 and ascending"
            )

    def days(self, count: int, seed: int) -> list[MigWorkload]:
        """So many days with seeds from `seed` on; of pods only the deadlines are drawn."""
        seeds = range(seed, seed + count)
        if self.workload is not None:
            if count > 1:
                raise ConfigError(f"{self.workload} is one workload; ask for one day of it")
            return [read_mig_workload(self.workload)]
        if self.pods is not None:
            return [mig_pods(self.pods, each, self.slack, self.compress) for each in seeds]
        return [mig_day(each, self.slack, self.rate, self.hours) for each in seeds]
