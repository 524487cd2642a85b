"""The configurations of the environments of sliced GPUs: parts, any of which can be replaced."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from dovetail.domain.errors import ConfigError
from dovetail.mig.envs.days import Days, MigDays
from dovetail.mig.envs.observation import MIG_OBSERVATIONS, MigObservation
from dovetail.mig.envs.reward import PAPER, MigReward
from dovetail.mig.gpus.cluster import MIG_DAY_CLUSTER, MigCluster
from dovetail.mig.metrics import ENERGY_WEIGHT
from dovetail.mig.policies import PLACERS
from dovetail.mig.policy import Placer
from dovetail.mig.simulator import MigRules
from dovetail.mig.workload.estimates import EXACT, check_estimates


@dataclass(frozen=True, slots=True)
class MigPlacementConfig:
    """On which slice the next job goes."""

    days: Days = field(default_factory=MigDays)
    cluster: MigCluster = MIG_DAY_CLUSTER
    observation: MigObservation = MIG_OBSERVATIONS["paper"]
    reward: MigReward = PAPER
    rules: MigRules = field(default_factory=MigRules)
    may_wait: bool = False  # one action more: place nothing before the next event
    pool: int = 32  # days that are kept ready; every episode is one of them
    seed: int = 0  # of the pool
    estimates: str = EXACT  # what is told of run times, see `mig_estimates`

    def __post_init__(self) -> None:
        check_pool(self.pool, self.seed)
        check_estimates(self.estimates)

    def __deepcopy__(self, memo: Any) -> MigPlacementConfig:
        return self  # Gymnasium copies what an environment is made with; nothing here changes


@dataclass(frozen=True, slots=True)
class MigRepartitionConfig:
    """How the GPUs are cut, by one matrix for all of them."""

    days: Days = field(default_factory=MigDays)
    cluster: MigCluster = MIG_DAY_CLUSTER
    placer: Placer = PLACERS["categorical-edf"]
    rules: MigRules = field(default_factory=MigRules)
    every: int = 5  # arrivals and completions between two decisions
    most_likely: int = 3  # ways that a GPU draws its next one from
    energy_weight: float = ENERGY_WEIGHT  # a, in minutes of mean tardiness for a W·min
    pool: int = 32
    seed: int = 0
    estimates: str = EXACT

    def __post_init__(self) -> None:
        check_pool(self.pool, self.seed)
        check_estimates(self.estimates)
        if self.every < 1 or self.most_likely < 1:
            raise ConfigError(
                f"every is {self.every} and most_likely {self.most_likely}, expected 1 or more"
            )

    def __deepcopy__(self, memo: Any) -> MigRepartitionConfig:
        return self


def check_pool(pool: int, seed: int) -> None:
    if pool < 1:
        raise ConfigError(f"pool is {pool}, expected 1 or more days")
    if seed < 0:
        raise ConfigError(f"seed is {seed}, expected 0 or more")
