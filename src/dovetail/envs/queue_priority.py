"""Which job goes next, as a Gymnasium environment: `dovetail/QueuePriority-v0`.

    import gymnasium, dovetail.envs
    env = gymnasium.make("dovetail/QueuePriority-v0")
    seen, info = env.reset(seed=0)
    seen, reward, terminated, truncated, info = env.step(0)     # what the base policy would do

An episode is a window of jobs that meets the cluster as the trace has it then. A step is a
decision: at least two of the jobs shown could go next. Action i starts the i-th job shown, or
reserves for it if it does not fit; the last action declines to backfill. The reward comes at the
end: how far our score is from the base policy's on the same jobs, in [-1, 1].
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from dovetail.domain.arguments import whole
from dovetail.domain.jobs import Bools
from dovetail.envs.batch import QueuePriorityBatch, Seen
from dovetail.envs.config import QueuePriorityConfig
from dovetail.envs.pool import Pool
from dovetail.envs.shown import SHOWN
from dovetail.envs.stage import DECLINE


class Actions(spaces.Discrete):
    """The jobs shown, then "decline".

    Without a mask, `sample` draws from the two actions that every decision has; give it
    `mask=seen["mask"]` to draw from all that are valid.
    """

    def __init__(self) -> None:
        super().__init__(DECLINE + 1)

    def sample(self, mask: Any = None, probability: Any = None) -> np.int64:
        if mask is None and probability is None:
            mask = np.zeros(DECLINE + 1, np.int8)
            mask[:2] = 1
        return super().sample(mask, probability)


class QueuePriority(gymnasium.Env[Seen, np.int64]):
    """One environment; environments may share a pool of windows."""

    metadata = {"render_modes": []}  # noqa: RUF012 - Gymnasium's own way

    def __init__(
        self,
        config: QueuePriorityConfig | None = None,
        pool: Pool | None = None,
        render_mode: None = None,
    ) -> None:
        self._one = QueuePriorityBatch(config, count=1, pool=pool)
        self.pool = self._one.pool
        self.render_mode = render_mode
        look = self.pool.config.observation
        seen: Any = spaces.Dict(
            {
                "jobs": spaces.Box(look.low, 1.0, (SHOWN, look.width), np.float32),
                "critic": spaces.Box(look.low, 1.0, (SHOWN, look.critic_width), np.float32),
                "mask": spaces.MultiBinary(SHOWN + 1),
            }
        )
        self.observation_space = seen
        self.action_space = Actions()
        self._over = True

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Seen, dict[str, Any]]:
        """Begin a window of the pool: a random one, or the one in `options["window"]`."""
        super().reset(seed=seed)
        window = int(self.np_random.integers(len(self.pool)))
        if options and "window" in options:
            window = whole("window", options["window"], low=0)
        self._one.begin([window])
        self._over = False
        return self._seen(), {"window": window}

    def step(self, action: np.int64) -> tuple[Seen, float, bool, bool, dict[str, Any]]:
        if self._over:
            raise gymnasium.error.ResetNeeded("the episode has ended; call reset() first")
        window = int(self._one.stage.playing[0])
        _, rewards, dones, infos = self._one.step([action])
        self._over = bool(dones[0])
        info: dict[str, Any] = {"window": window}
        if self._over:
            info |= {"score": float(infos["score"][0]), "base": float(infos["base"][0])}
        return self._seen(), float(rewards[0]), self._over, False, info

    def action_masks(self) -> Bools:
        """The actions that are valid now, under the name that MaskablePPO looks for."""
        mask: NDArray[np.int8] = self._seen()["mask"]
        return mask.astype(np.bool_)

    def _seen(self) -> Seen:
        """Copies: what was returned before must not change. After the end nothing is shown."""
        return {
            name: np.zeros_like(array[0]) if self._over else array[0].copy()
            for name, array in self._one.seen.items()
        }
