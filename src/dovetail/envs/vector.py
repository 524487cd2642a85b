"""Environments that are stepped together, as a Gymnasium vector environment.

    envs = gymnasium.make_vec("dovetail/QueuePriority-v0", num_envs=256, threads=2)
    seen, infos = envs.reset(seed=0)
    actions = seen["mask"].argmax(axis=1)
    seen, rewards, terminations, truncations, infos = envs.step(actions)

Where an episode ends, the next one begins in the same step (AutoresetMode.SAME_STEP): what is seen
is of the new one; `infos["final_obs"]` and `infos["final_info"]` are of the one that ended.
Environment i goes exactly as a single one that is reset with `seed + i` and, whenever an episode
ends, without a seed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv, VectorWrapper
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from dovetail.domain.jobs import Bools, Floats

Seen = Any
"""An array [environments, ...], or a dict of such arrays, as the space of one says."""

Infos = dict[str, Any]
Seeds = int | Sequence[int | None] | None


class EnvironmentBatch(Protocol):
    """Environments that one call steps; they begin anew by themselves with what follows."""

    count: int
    seen: Seen  # written anew by every step
    rewards: Floats  # [environments]
    dones: Bools  # [environments]

    def follow(self, environment: int, random: np.random.Generator) -> None: ...

    def begin(self, options: Mapping[str, Any] | None = None) -> None: ...

    def step(self, actions: Any) -> None: ...

    def running(self) -> dict[str, NDArray[Any]]: ...

    def ended(self) -> dict[str, NDArray[Any]]: ...

    def close(self) -> None: ...


class BatchVectorEnv(VectorEnv[Seen, Any, NDArray[Any]]):
    """A batch and the spaces of one of its environments.

    `copy`: what is returned stays as it is; without, arrays are written anew by the next step.
    """

    metadata = {  # noqa: RUF012 - Gymnasium's own way
        "render_modes": [],
        "autoreset_mode": AutoresetMode.SAME_STEP,
    }

    def __init__(
        self, batch: EnvironmentBatch, observation: gymnasium.Space[Any],
        action: gymnasium.Space[Any],
        copy: bool = True,
    ) -> None:  # fmt: skip
        self.batch, self.copy = batch, copy
        self.num_envs = batch.count
        self.single_observation_space, self.single_action_space = observation, action
        self.observation_space = batch_space(observation, batch.count)
        self.action_space = batch_space(action, batch.count)
        self._randoms = [seeding.np_random(None)[0] for _ in range(batch.count)]
        self._begun = False

    def reset(
        self, *, seed: Seeds = None, options: Mapping[str, Any] | None = None
    ) -> tuple[Seen, Infos]:
        """Begin a new episode everywhere; options as those of a single environment, one each."""
        for i, mine in enumerate(self._seeds(seed)):
            if mine is not None:
                self._randoms[i] = seeding.np_random(mine)[0]
            self.batch.follow(i, self._randoms[i])
        self.batch.begin(options)
        self._follow(range(self.num_envs))
        self._begun = True
        return self._seen(), self._everywhere(self.batch.running())

    def step(self, actions: Any) -> tuple[Seen, Floats, Bools, Bools, Infos]:
        if not self._begun:
            raise gymnasium.error.ResetNeeded("step before the first reset; call reset() once")
        self.batch.step(actions)
        dones = self.batch.dones.copy()
        infos = self._everywhere(self.batch.running())
        if dones.any():
            self._follow(np.flatnonzero(dones).tolist())
            infos |= {"final_obs": self._final(dones), "_final_obs": dones.copy()}
            final = {name: np.where(dones, part, 0) for name, part in self.batch.ended().items()}
            masks = {f"_{name}": dones.copy() for name in final}
            infos |= {"final_info": final | masks, "_final_info": dones.copy()}
        return self._seen(), self.batch.rewards.copy(), dones, np.zeros_like(dones), infos

    def close_extras(self, **kwargs: Any) -> None:
        self.batch.close()

    def _seeds(self, seed: Seeds) -> Sequence[int | None]:
        if seed is None or isinstance(seed, int | np.integer):
            return [None if seed is None else int(seed) + i for i in range(self.num_envs)]
        if len(seed) != self.num_envs:
            raise ValueError(f"{len(seed)} seeds for {self.num_envs} environments")
        return seed

    def _follow(self, environments: Sequence[int]) -> None:
        for i in environments:
            self.batch.follow(i, self._randoms[i])

    def _seen(self) -> Seen:
        return _each(np.copy if self.copy else np.asarray, self.batch.seen)

    def _final(self, dones: Bools) -> NDArray[Any]:
        """After the end nothing is shown."""
        found = np.full(self.num_envs, None, object)
        for i in np.flatnonzero(dones).tolist():
            found[i] = _each(lambda part: np.zeros_like(part[0]), self.batch.seen)
        return found

    def _everywhere(self, values: dict[str, NDArray[Any]]) -> Infos:
        return values | {f"_{name}": np.ones(self.num_envs, np.bool_) for name in values}


def _each(change: Callable[[NDArray[Any]], NDArray[Any]], seen: Seen) -> Seen:
    """What is seen with every array of it changed."""
    if isinstance(seen, dict):
        return {name: change(part) for name, part in seen.items()}
    return change(seen)


class FlatObservation(VectorWrapper[Any, Any, Any]):
    """All that is seen in one row, for learners that know no dicts.

    Gymnasium's own wrapper refuses environments that begin anew in the same step.
    """

    def __init__(self, env: VectorEnv[Any, Any, Any]) -> None:
        super().__init__(env)
        parts = env.single_observation_space
        assert isinstance(parts, spaces.Dict)
        self._names = tuple(parts)
        self._parts = parts
        self.single_observation_space = spaces.flatten_space(parts)
        self.observation_space = batch_space(self.single_observation_space, env.num_envs)

    def reset(
        self, *, seed: Any = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[Any], Infos]:
        seen, infos = self.env.reset(seed=seed, options=options)
        return self._flat(seen), infos

    def step(self, actions: Any) -> tuple[NDArray[Any], Any, Any, Any, Infos]:
        seen, rewards, terminations, truncations, infos = self.env.step(actions)
        if "final_obs" in infos:
            for i in np.flatnonzero(infos["_final_obs"]).tolist():
                infos["final_obs"][i] = spaces.flatten(self._parts, infos["final_obs"][i])
        return self._flat(seen), rewards, terminations, truncations, infos

    def _flat(self, seen: Seen) -> NDArray[Any]:
        rows = [seen[name].reshape(self.num_envs, -1) for name in self._names]
        return np.concatenate(rows, axis=1, dtype=self.single_observation_space.dtype)
