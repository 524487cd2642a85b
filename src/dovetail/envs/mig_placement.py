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

import gymnasium
import numpy as np
from gymnasium import spaces

from dovetail.domain.jobs import Bools
from dovetail.envs.mig_batch import MigPlacementBatch
from dovetail.envs.mig_config import MigPlacementConfig
from dovetail.envs.mig_observation import LIMIT, Singles


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


class MigPlacement(gymnasium.Env[Singles, np.int64]):
    """One environment."""

    metadata = {"render_modes": []}  # noqa: RUF012 - Gymnasium's own way

    def __init__(self, config: MigPlacementConfig | None = None, render_mode: None = None) -> None:
        self._one = MigPlacementBatch(config, count=1)
        self.config, self.render_mode = self._one.config, render_mode
        width = self._one.stage.seen.shape[1]
        self.observation_space = spaces.Box(-LIMIT, LIMIT, (width,), np.float32)
        self._over = True
        self.action_space = FreeSlots(self, self._one.actions)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Singles, dict[str, Any]]:
        """Begin a day of the pool: a random one, or the one in `options["day"]`."""
        super().reset(seed=seed)
        day = int(self.np_random.integers(self._one.batch.days))
        self._one.stage.chances[0] = self.np_random.integers(2**63)
        if options and "day" in options:
            day = int(options["day"])
        self._one.begin([day])
        self._over = False
        return self._seen(), {"day": day}

    def step(self, action: np.int64) -> tuple[Singles, float, bool, bool, dict[str, Any]]:
        if self._over:
            raise gymnasium.error.ResetNeeded("the day has ended; call reset() first")
        _, _, rewards, dones, infos = self._one.step([action])
        self._over = bool(dones[0])
        info = {name: float(values[0]) for name, values in infos.items()}
        return self._seen(), float(rewards[0]), self._over, False, info

    def action_masks(self) -> Bools:
        """The actions that are valid now, under the name that MaskablePPO looks for."""
        mask: Bools = self._one.stage.mask[0].astype(np.bool_)
        return mask & (not self._over)

    def _seen(self) -> Singles:
        """A copy: what was returned before must not change. After the end nothing is shown."""
        seen = self._one.stage.seen[0]
        return np.zeros_like(seen) if self._over else seen.copy()
