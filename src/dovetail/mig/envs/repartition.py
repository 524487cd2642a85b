"""How GPUs are cut, as a Gymnasium environment: `dovetail/MigRepartition-v0`, and many at once.

    import gymnasium, dovetail.envs
    env = gymnasium.make("dovetail/MigRepartition-v0")
    seen, info = env.reset(seed=0)
    seen, reward, terminated, truncated, info = env.step(np.zeros((14, 14)))   # logits

    batch = MigRepartitionBatch(MigRepartitionConfig(), count=64)
    seen = batch.reset(seed=0)
    seen, rewards, dones, infos = batch.step(logits)         # [64, 14, 14]

An episode is a day; a step lasts for `every` arrivals and completions. Rewards add up to minus ET.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from dovetail.domain.jobs import Bools, Floats
from dovetail.envs.batch import InvalidAction
from dovetail.mig.envs import repartition_kernel as kernels
from dovetail.mig.envs.batch import Infos, MigBatch, worlds_for
from dovetail.mig.envs.config import MigRepartitionConfig
from dovetail.mig.envs.observation import Singles
from dovetail.mig.envs.repartition_kernel import RepartitionSettings
from dovetail.mig.envs.single import SingleDay
from dovetail.mig.gpus.cluster import MOST_SLICES
from dovetail.mig.mean_field import BINS, EXTRAS

LARGEST_LOGIT = 20.0
"""Of the action space; a softmax makes nothing of larger ones."""


class MigRepartitionBatch:
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
        self.batch = MigBatch(worlds, count, threads, self.ways + 2 * BINS + len(EXTRAS), 0)
        self.count, self.stage = count, self.batch.stage
        self._settings = RepartitionSettings(
            rank=config.placer.rank.pointer,
            parameters=config.placer.numbers(),
            ways=self.ways,
            every=config.every,
            most_likely=config.most_likely,
            energy_weight=config.energy_weight,
        )

    def reset(self, seed: int | None = None) -> Singles:
        """Begin a new day everywhere; environment i is seeded with `seed + i`."""
        self.batch.seed(seed)
        self.batch.draw(self.batch.everyone)
        return self.begin(self.stage.following.copy())

    def begin(self, days: Any) -> Singles:
        """Begin these days of the pool, one for each environment."""
        self.stage.following[:] = days
        kernels.reset_repartition(self.stage, self._settings, 0, self.count)
        self.batch.draw(self.batch.everyone)
        self.batch.begun = True
        return self.stage.seen

    def step(self, logits: Any) -> tuple[Singles, Floats, Bools, Infos]:
        """One decision everywhere; where a day ends, what is seen is of the next one."""
        given = np.ascontiguousarray(logits, np.float64)
        if not self.batch.begun:
            raise InvalidAction("step before the first reset; call reset() once")
        expected = (self.count, self.ways, self.ways)
        if given.shape != expected or not np.all(np.isfinite(given)):
            raise InvalidAction(f"logits of shape {given.shape}, expected finite ones {expected}")
        self.batch.each_part(lambda part: self._step(part, given))
        return self.stage.seen, *self.batch.outcome()

    def close(self) -> None:
        self.batch.close()

    def _step(self, part: int, logits: Floats) -> None:
        first, last = self.batch.parts[part]
        kernels.step_repartition(self.stage, self._settings, logits, first, last)


class MigRepartition(SingleDay):
    """One environment."""

    def __init__(
        self, config: MigRepartitionConfig | None = None, render_mode: None = None
    ) -> None:
        self._one = MigRepartitionBatch(config, count=1)
        self.config, self.render_mode = self._one.config, render_mode
        ways, width = self._one.ways, self._one.stage.seen.shape[1]
        self.observation_space = spaces.Box(0.0, 1.001, (width,), np.float32)
        self.action_space = spaces.Box(-LARGEST_LOGIT, LARGEST_LOGIT, (ways, ways), np.float64)
