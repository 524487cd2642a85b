"""How placements do on whole days: late jobs, tardiness and energy, without building schedules.

days = PlayedDays.of("8xa100-40-rounded:1,1,2,2,3,3,12,12", EvaluationDays(0, 10))
scores = days.play(PLACERS["eft"])           # [days, 3], the columns of DayScore
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dovetail.domain.jobs import Floats
from dovetail.mig.gpus.cluster import MIG_DAY_CLUSTER, MigCluster
from dovetail.mig.metrics import MINUTE
from dovetail.mig.policy import Placer
from dovetail.mig.simulator import MigRules
from dovetail.mig.simulator.engine import play_through
from dovetail.mig.simulator.tables import MigWorlds, WorkloadTables
from dovetail.mig.workload.day import RATE, RELAXED, mig_day
from dovetail.mig.workload.estimates import EXACT, estimates_of_days
from dovetail.mig.workload.jobs import MigWorkload
from dovetail.mig.workload.seeds import DaySeeds


class DayScore(NamedTuple):
    """What counts of a day, or of the mean of several."""

    late_share: float
    tardiness: float  # minutes, over all jobs
    energy: float  # W·min


class PlayedDays:
    """Days that a placement can play at once, on one cluster."""

    def __init__(
        self, workloads: Sequence[MigWorkload], cluster: MigCluster, estimates: str, seed: int
    ) -> None:
        self.workloads = tuple(workloads)
        told = estimates_of_days(self.workloads, estimates, seed)
        self._worlds = MigWorlds(cluster, WorkloadTables(self.workloads, told), 1, MigRules())

    @classmethod
    def of(
        cls, cluster: str, chosen: DaySeeds, slack: tuple[float, float] = RELAXED,
        rate: float = RATE, hours: float = 24.0, estimates: str = EXACT,
    ) -> PlayedDays:  # fmt: skip
        """MIG days; `rate` is that of 8 GPUs and grows with the cluster."""
        gpus = MigCluster.parse(cluster)
        fair = rate * gpus.compute / MIG_DAY_CLUSTER.compute
        days = [mig_day(seed, slack, fair, hours) for seed in chosen.seeds]
        return cls(days, gpus, estimates, chosen.seeds[0])

    def __len__(self) -> int:
        return len(self.workloads)

    def play(self, placer: Placer, chosen: Sequence[int] | None = None) -> Floats:
        """[days, 3] the columns of DayScore; lots that a placement draws go by the day."""
        days = range(len(self)) if chosen is None else chosen
        return np.array([self._play_one(placer, day) for day in days])

    def _play_one(self, placer: Placer, day: int) -> DayScore:
        play_through(self._worlds, placer, day, seed=day)
        world, jobs = self._worlds.world[0], len(self.workloads[day])
        return DayScore(
            late_share=float(world["late"] + jobs - world["finished"]) / jobs,
            tardiness=float(world["tardiness"]) / MINUTE / jobs,
            energy=float(self._worlds.gpu["energy"][0].sum()) / MINUTE,
        )
