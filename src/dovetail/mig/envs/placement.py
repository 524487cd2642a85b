"""On which slice the next job goes, as a Gymnasium environment: `dovetail/MigPlacement-v0`.

    import gymnasium, dovetail.envs
    env = gymnasium.make("dovetail/MigPlacement-v0")
    seen, info = env.reset(seed=0)
    action = np.flatnonzero(env.unwrapped.action_masks())[0]
    seen, reward, terminated, truncated, info = env.step(action)

An episode is a day. A step is a decision: the waiting job with the earliest deadline goes on the
slot that the action names. With `may_wait` one action more places nothing before the next event.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from dovetail.domain.jobs import Bools
from dovetail.mig.envs.config import MigPlacementConfig
from dovetail.mig.envs.placement_batch import MigPlacementBatch
from dovetail.mig.envs.single import SingleDay


class FreeSlots(spaces.Discrete):
    """The slots; without a mask, `sample` draws from those that are valid now."""

    def __init__(self, env: MigPlacement, actions: int) -> None:
        super().__init__(actions)
        self._env = env

    def sample(self, mask: Any = None, probability: Any = None) -> np.int64:
        if mask is None and probability is None and self._env.action_masks().any():
            mask = self._env.action_masks().astype(np.int8)
        return super().sample(mask, probability)

    def __deepcopy__(self, memo: Any) -> FreeSlots:
        return self  # it belongs to its environment, and so does the mask


class MigPlacement(SingleDay):
    """One environment."""

    def __init__(self, config: MigPlacementConfig | None = None, render_mode: None = None) -> None:
        self.batch: MigPlacementBatch = MigPlacementBatch(config, count=1)
        self.config, self.render_mode = self.batch.config, render_mode
        self.observation_space = self.batch.observation_space()
        self.action_space = FreeSlots(self, self.batch.actions)

    def action_masks(self) -> Bools:
        """The actions that are valid now, under the name that MaskablePPO looks for."""
        mask: Bools = self.batch.mask[0].astype(np.bool_)
        return mask & (not self._over)
