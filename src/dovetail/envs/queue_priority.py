"""Which job goes next, as a Gymnasium environment: `dovetail/QueuePriority-v0`.

    import gymnasium, dovetail.envs
    env = gymnasium.make("dovetail/QueuePriority-v0")
    seen, info = env.reset(seed=0)
    seen, reward, terminated, truncated, info = env.step(0)     # what the base policy would do

An episode is a window of jobs that meets the cluster as the trace has it then. A step is a
decision: at least two of the jobs shown could go next. Action i starts the i-th job shown, or
reserves for it if it does not fit; the last action declines to backfill. The reward comes at the
end: how far our score is from the base policy's on the same jobs, in [-1, 1].

An action that the mask rules out is an error. Learners without masks take
`illegal_actions="wait"`: then nothing more starts before the next event (the end of a job, an
arrival), and time is lost; if nothing else is to happen, the base's choice is taken, so that every
episode ends.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from dovetail.domain.jobs import Bools
from dovetail.envs.batch import IllegalActions, QueuePriorityBatch, Seen
from dovetail.envs.batch_kernel import DECLINE
from dovetail.envs.config import QueuePriorityConfig
from dovetail.envs.observation import Observation
from dovetail.envs.pool import Pool
from dovetail.envs.renderers import RENDERERS, moment
from dovetail.envs.vector import BatchVectorEnv
from dovetail.envs.visible_jobs import SHOWN


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

    metadata = {"render_modes": list(RENDERERS), "render_fps": 4}  # noqa: RUF012

    def __init__(
        self,
        config: QueuePriorityConfig | None = None,
        pool: Pool | None = None,
        illegal_actions: IllegalActions | str = IllegalActions.ERROR,
        render_mode: str | None = None,
    ) -> None:
        self.pool = pool if pool is not None else Pool(config or QueuePriorityConfig())
        self._one = QueuePriorityBatch(self.pool, illegal_actions=illegal_actions)
        self.render_mode = _known(render_mode)
        self.observation_space = _seen_of(self.pool.config.observation)
        self.action_space = Actions()
        self._over = True

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Seen, dict[str, Any]]:
        """Begin a window of the pool: a random one, or the one in `options["window"]`."""
        super().reset(seed=seed)
        self._one.follow(0, self.np_random)
        self._one.begin(options)
        self._over = False
        return self._seen(), {"window": int(self._one.stage.playing[0])}

    def step(self, action: np.int64) -> tuple[Seen, float, bool, bool, dict[str, Any]]:
        if self._over:
            raise gymnasium.error.ResetNeeded("the episode has ended; call reset() first")
        one = self._one
        info: dict[str, Any] = {"window": int(one.stage.playing[0])}
        one.step((action,))
        self._over = bool(one.dones[0])
        if self._over:
            info |= {name: part[0].item() for name, part in one.ended().items()}
        return self._seen(), float(one.rewards[0]), self._over, False, info

    def render(self) -> Any:
        """The nodes and the jobs to choose from; None without a render mode."""
        return None if self.render_mode is None else _drawn(self._one, 0, self.render_mode)

    def action_masks(self) -> Bools:
        """The actions that are valid now, under the name that MaskablePPO looks for."""
        mask: Bools = self._one.stage.mask[0].astype(np.bool_)
        return mask & (not self._over)

    def _seen(self) -> Seen:
        """Copies: what was returned before must not change. After the end nothing is shown."""
        return {
            name: np.zeros_like(array[0]) if self._over else array[0].copy()
            for name, array in self._one.seen.items()
        }


class QueuePriorityVector(BatchVectorEnv):
    """`num_envs` environments stepped by one call; several threads each step a part of them."""

    metadata = {**BatchVectorEnv.metadata, "render_modes": list(RENDERERS)}  # noqa: RUF012
    batch: QueuePriorityBatch

    def __init__(
        self,
        num_envs: int = 1,
        config: QueuePriorityConfig | None = None,
        pool: Pool | None = None,
        threads: int = 1,
        illegal_actions: IllegalActions | str = IllegalActions.ERROR,
        copy: bool = True,
        render_mode: str | None = None,
    ) -> None:
        self.pool = pool if pool is not None else Pool(config or QueuePriorityConfig())
        self.render_mode = _known(render_mode)
        batch = QueuePriorityBatch(self.pool, num_envs, threads, illegal_actions)
        super().__init__(batch, _seen_of(self.pool.config.observation), Actions(), copy)

    def render(self) -> tuple[Any, ...] | None:
        """A picture of each environment."""
        mode = self.render_mode
        if mode is None:
            return None
        return tuple(_drawn(self.batch, i, mode) for i in range(self.num_envs))


def _known(mode: str | None) -> str | None:
    """An unknown mode answers "did you mean"."""
    if mode is not None:
        _ = RENDERERS[mode]
    return mode


def _drawn(batch: QueuePriorityBatch, environment: int, mode: str) -> Any:
    return RENDERERS[mode](moment(batch, environment))


def _seen_of(look: Observation) -> Any:
    return spaces.Dict(
        {
            "jobs": spaces.Box(look.low, 1.0, (SHOWN, look.width), np.float32),
            "critic": spaces.Box(look.low, 1.0, (SHOWN, look.critic_width), np.float32),
            "mask": spaces.MultiBinary(SHOWN + 1),
        }
    )
