"""A batch of placement environments as Stable-Baselines3 wants it."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv

from dovetail.mig.envs.batch import SCORES
from dovetail.mig.envs.config import MigPlacementConfig
from dovetail.mig.envs.observation import LIMIT
from dovetail.mig.envs.placement_batch import MigPlacementVector


class SlotEnvs(VecEnv):
    """One thread steps all of them in one call; the first reset is seeded."""

    def __init__(self, config: MigPlacementConfig, count: int, seed: int) -> None:
        self.envs = MigPlacementVector(count, config)
        self._first_seed: int | None = seed
        self.render_mode = None
        super().__init__(count, self.envs.single_observation_space, self.envs.single_action_space)

    def reset(self) -> NDArray[Any]:
        seen, _ = self.envs.reset(seed=self._first_seed)
        self._first_seed = None
        return self.shown(seen)

    def step_async(self, actions: NDArray[Any]) -> None:
        self._actions = actions

    def step_wait(self) -> Any:
        seen, rewards, dones, _, found = self.envs.step(self._actions)
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for i in np.flatnonzero(dones):
            nothing = np.zeros(self.observation_space.shape or (), np.float32)
            infos[i] = {name: float(found["final_info"][name][i]) for name in SCORES}
            infos[i]["terminal_observation"] = nothing
        return self.shown(seen), rewards.astype(np.float32), dones, infos

    def shown(self, seen: NDArray[Any]) -> NDArray[Any]:
        return seen

    def action_masks(self) -> NDArray[np.bool_]:
        return self.envs.action_masks()

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> Any:
        return getattr(self, method_name)(*args, **kwargs)

    def has_attr(self, attr_name: str) -> bool:
        return hasattr(self, attr_name)

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        return [getattr(self, attr_name)] * self.num_envs

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        setattr(self, attr_name, value)

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        return [False] * self.num_envs

    def close(self) -> None:
        self.envs.close()


class MaskedSlotEnvs(SlotEnvs):
    """The mask stands behind what is seen, so that a replay buffer keeps it."""

    def __init__(self, config: MigPlacementConfig, count: int, seed: int) -> None:
        super().__init__(config, count, seed)
        width = self.envs.batch.seen.shape[1] + self.envs.batch.actions
        self.observation_space = spaces.Box(-LIMIT, LIMIT, (width,), np.float32)

    def shown(self, seen: NDArray[Any]) -> NDArray[Any]:
        return np.concatenate((seen, self.envs.batch.mask), axis=1, dtype=np.float32)
