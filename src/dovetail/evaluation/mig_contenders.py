"""Who takes part in a comparison on sliced GPUs: names only, and what they stand for.

contender = Contender("eft", "8xa100-40:1,1,2,2,3,3,12,12")
joint = Contender("model", "8xa100-40:2,2,2,2,8,8,8,8", "model")       # a checkpoint's folder
schedule = contender.parts().run(mig_day(seed=3), seed=3)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from dovetail.domain.mig_cluster import MigCluster
from dovetail.domain.mig_policy import Placer, Repartitioner
from dovetail.domain.mig_schedule import MigSchedule
from dovetail.domain.mig_workload import MigWorkload
from dovetail.domain.registry import Registry
from dovetail.policies.mig import PLACERS
from dovetail.simulator.mig import simulate_mig

NONE = "none"
"""GPUs stay as they are cut."""

REPARTITIONERS: Registry[Repartitioner | None] = Registry("repartitioner", {NONE: None})


@dataclass(frozen=True, slots=True)
class Parts:
    """What the simulator takes."""

    cluster: MigCluster
    placer: Placer
    repartitioner: Repartitioner | None

    def run(self, workload: MigWorkload, seed: int = 0) -> MigSchedule:
        return simulate_mig(workload, self.cluster, self.placer, self.repartitioner, seed=seed)


@dataclass(frozen=True, slots=True)
class Contender:
    """A placement, GPUs as they are cut at first, and who cuts them anew."""

    placer: str  # a name, or a checkpoint's folder
    cluster: str  # as MigCluster.parse reads it
    repartitioner: str = NONE  # or a checkpoint's folder

    def parts(self) -> Parts:
        """What the names stand for; an unknown one answers "did you mean"."""
        return Parts(
            MigCluster.parse(self.cluster),
            PLACERS[self.placer],
            REPARTITIONERS[self.repartitioner],
        )

    @property
    def gpus(self) -> str:
        """The GPUs, however they are cut: 8xa100-40."""
        counts = Counter(kind.name for kind in MigCluster.parse(self.cluster).types)
        return " + ".join(f"{count}x{name}" for name, count in sorted(counts.items()))

    def label(self) -> str:
        """Who places and who cuts; a control that was learned as one thing is named once."""
        if self.repartitioner in (NONE, self.placer):
            return self.placer
        return f"{self.placer} + {self.repartitioner}"


def cross(
    placers: Sequence[str], clusters: Sequence[str], repartitioners: Sequence[str] = (NONE,)
) -> list[Contender]:
    """Every placement on every cluster under every repartitioner."""
    return [
        Contender(placer, cluster, repartitioner)
        for cluster in clusters
        for repartitioner in repartitioners
        for placer in placers
    ]


def labels(contenders: Sequence[Contender]) -> list[str]:
    """Short names; the cluster is left out where all have the same."""
    several = len({contender.cluster for contender in contenders}) > 1
    return [
        f"{contender.label()} on {contender.cluster}" if several else contender.label()
        for contender in contenders
    ]
