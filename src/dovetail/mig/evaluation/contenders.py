"""Who takes part in a comparison on sliced GPUs: names only, and what they stand for.

contender = Contender("eft", "8xa100-40:1,1,2,2,3,3,12,12")
joint = Contender("model", "8xa100-40:2,2,2,2,8,8,8,8", "model")       # a checkpoint's folder
schedule = contender.parts().run(mig_day(seed=3), seed=3)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from dovetail.domain.errors import ConfigError
from dovetail.domain.registry import Registry
from dovetail.mig.gpus.cluster import MigCluster
from dovetail.mig.mean_field import MeanField
from dovetail.mig.policies.learned.control import CONTROL_MODELS, MigPolicy, load_control
from dovetail.mig.policies.learned.placement import PLACER_MODELS, placer_named
from dovetail.mig.policy import Placer
from dovetail.mig.schedule import MigSchedule
from dovetail.mig.simulator import simulate_mig
from dovetail.mig.simulator.engine import Watch
from dovetail.mig.workload.estimates import EXACT, mig_estimates
from dovetail.mig.workload.jobs import MigWorkload
from dovetail.policies.learned.checkpoint import load_checkpoint

NONE = "none"
"""GPUs stay as they are cut."""

REPARTITIONERS: Registry[MeanField | None] = Registry("repartitioner", {NONE: None})
"""By name; all others are learned, and lie in a checkpoint's folder."""


def placer_behind(text: str) -> Placer:
    """A placement by name, or that of a checkpoint: of a placement, or of a whole control."""
    return control_behind(Path(text)).placer if _is_control(text) else placer_named(text)


def repartitioner_behind(text: str) -> MeanField | None:
    """The repartitioner of a checkpoint, or none."""
    if not _is_control(text):
        if text not in REPARTITIONERS and Path(text).is_dir():
            raise ConfigError(
                f"{text}: has no repartitioner; train one with dovetail mig train repartition"
            )
        return REPARTITIONERS[text]
    return control_behind(Path(text)).field


def control_behind(folder: Path) -> MigPolicy:
    return load_control(folder)[0]


def _is_control(text: str) -> bool:
    """Whether this is the folder of a checkpoint that holds a control."""
    folder = Path(text)
    if not folder.is_dir():
        return False
    return load_checkpoint(folder, {**PLACER_MODELS, **CONTROL_MODELS}).kind in CONTROL_MODELS


@dataclass(frozen=True, slots=True)
class ResolvedContender:
    """What the simulator takes."""

    cluster: MigCluster
    placer: Placer
    repartitioner: MeanField | None

    def run(
        self,
        workload: MigWorkload,
        seed: int = 0,
        watch: Watch | None = None,
        estimates: str = EXACT,
    ) -> MigSchedule:
        """Play a day; lots and noise of estimates go by the seed."""
        told = mig_estimates(workload, estimates, seed)
        return simulate_mig(
            workload, self.cluster, self.placer, self.repartitioner,
            seed=seed, watch=watch, estimates=told,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Contender:
    """A placement, GPUs as they are cut at first, and who cuts them anew."""

    placer: str  # a name, or a checkpoint's folder
    cluster: str  # as MigCluster.open reads it
    repartitioner: str = NONE  # or a checkpoint's folder

    def parts(self) -> ResolvedContender:
        """What the names stand for; an unknown one answers "did you mean"."""
        return ResolvedContender(
            MigCluster.open(self.cluster),
            placer_behind(self.placer),
            repartitioner_behind(self.repartitioner),
        )

    @property
    def gpus(self) -> str:
        """The GPUs, however they are cut: 8xa100-40."""
        kinds = Counter(kind.name for kind in MigCluster.open(self.cluster).models)
        return " + ".join(f"{number}x{name}" for name, number in sorted(kinds.items()))

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
    """Short names: clusters by letter (see `letters`), and left out where all have the same."""
    named = letters(contenders)
    if len(named) < 2:
        return [contender.label() for contender in contenders]
    return [f"{contender.label()} on {named[contender.cluster]}" for contender in contenders]


def letters(contenders: Sequence[Contender]) -> dict[str, str]:
    """A letter for each cluster, in order of appearance; after Z follows A2."""
    clusters = dict.fromkeys(contender.cluster for contender in contenders)
    names = (f"{chr(ord('A') + n % 26)}{n // 26 + 1 if n >= 26 else ''}" for n in count())
    return dict(zip(clusters, names, strict=False))
