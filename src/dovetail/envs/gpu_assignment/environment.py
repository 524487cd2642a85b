"""Which job goes on which GPU, as a Gymnasium environment: `dovetail/GpuAssignment-v0`.

    import gymnasium, dovetail.envs
    env = gymnasium.make("dovetail/GpuAssignment-v0")
    seen, info = env.reset(seed=0)
    seen, reward, terminated, truncated, info = env.step(seen["mask"].argmax())

What is seen: `gpus`, one row each (busy, how long still, busy of late, type), the utilisation
matrix; `jobs`, the oldest that wait (estimate, wait, priority, kind); `speeds`, of each job on each
GPU; `queue`, how many wait; `mask`. Action `job * GPUs + gpu` starts a job on a GPU, the last one
waits for the next event. Over an episode the rewards add up to −(completion times of all jobs + λ ·
GPU time that went by idle), in units of the mean run time: a step has what passed until the next.
An action that the mask does not allow is an error, or waits with `illegal_actions="wait"`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from dovetail.domain.jobs import Bools
from dovetail.envs.batch import IllegalActions, Seen
from dovetail.envs.gpu_assignment.batch import POOL, AssignmentPool, GpuAssignmentBatch
from dovetail.envs.gpu_assignment.config import GpuAssignmentConfig
from dovetail.envs.vector import BatchVectorEnv

MOST = 1e9
"""Of anything that is seen, in units of mean run times; Gymnasium warns of infinity."""


class GpuAssignment(gymnasium.Env[Seen, np.int64]):
    """One environment; `seeds` are those of the episodes that are played."""

    metadata = {"render_modes": []}  # noqa: RUF012 - Gymnasium's own way

    def __init__(
        self,
        config: GpuAssignmentConfig | None = None,
        seeds: Sequence[int] = range(POOL),
        illegal_actions: IllegalActions | str = IllegalActions.ERROR,
    ) -> None:
        self._waits = IllegalActions(illegal_actions) is IllegalActions.WAIT
        self.batch = GpuAssignmentBatch(_pool(config, seeds))
        self.observation_space: gymnasium.Space[Any]
        self.observation_space, self.action_space = _spaces(self.batch)
        self._begun = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Seen, dict[str, Any]]:
        super().reset(seed=seed)
        self.batch.follow(0, self.np_random)
        self.batch.begin(options)
        self._begun = True
        return self._seen(), self._first(self.batch.running())

    def step(self, action: np.int64) -> tuple[Seen, float, bool, bool, dict[str, Any]]:
        if not self._begun:
            raise gymnasium.error.ResetNeeded("step before the first reset; call reset() once")
        self.batch.follow(0, self.np_random)
        legal = self.batch.state.mask[0] > 0
        if self._waits and self.action_space.contains(action) and not legal[action]:
            action = np.int64(np.flatnonzero(legal)[-1])  # waiting is the last one
        self.batch.step(np.array([action]))
        done = bool(self.batch.dones[0])
        info = self._first(self.batch.ended() if done else self.batch.running())
        # The batch has begun the next episode already; of this one nothing is left to be seen.
        seen = {name: np.zeros_like(part) for name, part in self._seen().items()} if done else None
        self._begun = not done
        return seen or self._seen(), float(self.batch.rewards[0]), done, False, info

    def action_masks(self) -> Bools:
        """For learners with masks."""
        found: Bools = self.batch.state.mask[0] > 0
        return found

    def _seen(self) -> Seen:
        return {name: part[0].copy() for name, part in self.batch.seen.items()}

    def _first(self, values: dict[str, Any]) -> dict[str, Any]:
        return {name: part[0].item() for name, part in values.items()}


class GpuAssignmentVector(BatchVectorEnv):
    """Many of them, stepped by one call."""

    def __init__(
        self,
        num_envs: int = 1,
        config: GpuAssignmentConfig | None = None,
        seeds: Sequence[int] = range(POOL),
        copy: bool = True,
    ) -> None:
        batch = GpuAssignmentBatch(_pool(config, seeds), num_envs)
        super().__init__(batch, *_spaces(batch), copy=copy)


def _pool(config: GpuAssignmentConfig | None, seeds: Sequence[int]) -> AssignmentPool:
    if config is None and isinstance(seeds, range) and seeds == range(POOL):
        return _usual_pool()
    return AssignmentPool(config or GpuAssignmentConfig(), seeds)


@cache  # drawing its episodes takes a second, and environments may share them
def _usual_pool() -> AssignmentPool:
    return AssignmentPool(GpuAssignmentConfig(), range(POOL))


def _spaces(batch: GpuAssignmentBatch) -> tuple[spaces.Dict, spaces.Discrete]:
    parts: dict[str, gymnasium.Space[Any]] = {
        name: spaces.Box(0.0, MOST, part.shape[1:], np.float32)
        for name, part in batch.seen.items()
        if name != "mask"
    }
    actions = batch.seen["mask"].shape[1]
    parts["mask"] = spaces.MultiBinary(actions)
    return spaces.Dict(parts), spaces.Discrete(actions)
