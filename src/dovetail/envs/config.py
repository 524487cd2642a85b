"""The configuration of the queue-priority environment."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from dovetail.domain.errors import ConfigError
from dovetail.domain.policy import Ordering, Varies
from dovetail.envs.observation import SITUATIONAL, Observation
from dovetail.envs.reward import METRICS, Metric
from dovetail.envs.windows import Generator, SyntheticWindows
from dovetail.policies.ordering import ORDERINGS


@dataclass(frozen=True, slots=True)
class QueuePriorityConfig:
    """Generator, reward and observation are parts: a variant replaces one, it copies nothing."""

    windows: Generator = field(default_factory=SyntheticWindows)
    order: str = "fcfs"  # the base policy, with EASY backfilling
    metric: str = "bsld"  # the reward compares with the base policy by this
    dense: float = 0.0  # share of the reward that is charged as waiting passes; metric wait only
    observation: Observation = SITUATIONAL
    pool: int = 64  # windows that are kept ready; every episode is one of them
    seed: int = 0  # of the pool

    def __post_init__(self) -> None:
        if self.pool < 1:
            raise ConfigError(f"pool is {self.pool}, expected 1 or more windows")
        if self.seed < 0:
            raise ConfigError(f"seed is {self.seed}, expected 0 or more")
        if not 0.0 <= self.dense <= 1.0:
            raise ConfigError(f"dense is {self.dense}, expected 0 to 1")
        if self.dense and self.metric != "wait":
            raise ConfigError(
                f"dense is for the metric wait; {self.metric} is known at the end only"
            )
        _ = self.base, self.reward  # an unknown name answers "did you mean"

    def __deepcopy__(self, memo: Any) -> QueuePriorityConfig:
        return self  # Gymnasium copies what an environment is made with; nothing here changes

    @property
    def base(self) -> Ordering:
        """The base policy; see `scored_anew`."""
        return scored_anew(self.order)

    @property
    def reward(self) -> Metric:
        return METRICS[self.metric]


def scored_anew(order: str) -> Ordering:
    """An ordering by name that scores every job at every pass, if its scores ever change."""
    ordering = ORDERINGS[order]
    never = ordering.varies is Varies.NEVER
    return ordering if never else replace(ordering, varies=Varies.ALWAYS)
