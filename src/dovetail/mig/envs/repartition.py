"""How GPUs are cut, as a Gymnasium environment: `dovetail/MigRepartition-v0`, and many at once.

    import gymnasium, dovetail.envs
    env = gymnasium.make("dovetail/MigRepartition-v0")
    seen, info = env.reset(seed=0)
    seen, reward, terminated, truncated, info = env.step(np.zeros((14, 14)))   # logits

    envs = gymnasium.make_vec("dovetail/MigRepartition-v0", num_envs=64)
    seen, infos = envs.reset(seed=0)
    seen, rewards, terminations, truncations, infos = envs.step(logits)   # [64, 14, 14]

An episode is a day; a step lasts for `every` arrivals and completions. Rewards add up to minus ET.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from dovetail.domain.jobs import Floats
from dovetail.envs.batch import InvalidAction
from dovetail.envs.vector import BatchVectorEnv
from dovetail.mig.envs import repartition_kernel as kernels
from dovetail.mig.envs.batch import MigBatch, worlds_for
from dovetail.mig.envs.config import MigRepartitionConfig
from dovetail.mig.envs.repartition_kernel import RepartitionSettings
from dovetail.mig.envs.single import SingleDay
from dovetail.mig.gpus.cluster import MOST_SLICES
from dovetail.mig.mean_field import BINS, EXTRAS

LARGEST_LOGIT = 20.0
"""Of the action space; a softmax makes nothing of larger ones."""


class MigRepartitionBatch(MigBatch):
    """`count` environments in which each action is a matrix of logits."""

    def __init__(
        self, config: MigRepartitionConfig | None = None, count: int = 1, threads: int = 1
    ) -> None:
        self.config = config = config or MigRepartitionConfig()
        worlds = worlds_for(
            config.days, config.pool, config.seed, config.cluster, config.rules, count,
            MOST_SLICES, config.estimates,
        )  # fmt: skip
        worlds.follow(config.placer)
        self.ways = max(len(kind.ways) for kind in config.cluster.kinds)
        super().__init__(worlds, count, threads, self.ways + 2 * BINS + len(EXTRAS), 0)
        self._settings = RepartitionSettings(
            rank=config.placer.rank.pointer,
            parameters=config.placer.numbers(),
            ways=self.ways,
            every=config.every,
            most_likely=config.most_likely,
            energy_weight=config.energy_weight,
        )

    def _reset(self) -> None:
        kernels.reset_repartition(self.stage, self._settings, 0, self.count)

    def _checked(self, actions: Any) -> Floats:
        logits = np.ascontiguousarray(actions, np.float64)
        expected = (self.count, self.ways, self.ways)
        if logits.shape != expected or not np.all(np.isfinite(logits)):
            raise InvalidAction(f"logits of shape {logits.shape}, expected finite ones {expected}")
        return logits

    def _step(self, part: int, actions: Floats) -> None:
        first, last = self.parts[part]
        kernels.step_repartition(self.stage, self._settings, actions, first, last)

    def spaces(self) -> tuple[spaces.Box, spaces.Box]:
        """What one environment shows, and its actions."""
        return (
            spaces.Box(0.0, 1.001, self.seen.shape[1:], np.float32),
            spaces.Box(-LARGEST_LOGIT, LARGEST_LOGIT, (self.ways, self.ways), np.float64),
        )


class MigRepartition(SingleDay):
    """One environment."""

    def __init__(
        self, config: MigRepartitionConfig | None = None, render_mode: None = None
    ) -> None:
        self.batch: MigRepartitionBatch = MigRepartitionBatch(config, count=1)
        self.config, self.render_mode = self.batch.config, render_mode
        self.observation_space, self.action_space = self.batch.spaces()


class MigRepartitionVector(BatchVectorEnv):
    """Many of them, stepped by one call."""

    batch: MigRepartitionBatch

    def __init__(
        self,
        num_envs: int = 1,
        config: MigRepartitionConfig | None = None,
        threads: int = 1,
        copy: bool = True,
    ) -> None:
        batch = MigRepartitionBatch(config, num_envs, threads)
        super().__init__(batch, *batch.spaces(), copy=copy)
