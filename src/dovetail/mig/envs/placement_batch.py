"""Many placement environments stepped by one call, and the vector environment over them."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from dovetail.compiled.tables import new_table
from dovetail.domain.jobs import Ints
from dovetail.envs.batch import InvalidAction
from dovetail.envs.vector import BatchVectorEnv
from dovetail.mig.envs import placement_kernel as kernels
from dovetail.mig.envs.batch import MigBatch, worlds_for
from dovetail.mig.envs.config import MigPlacementConfig
from dovetail.mig.envs.observation import LIMIT
from dovetail.mig.envs.reward import StepFacts


class MigPlacementBatch(MigBatch):
    """`count` environments in which each action puts the next job on a slot."""

    def __init__(
        self, config: MigPlacementConfig | None = None, count: int = 1, threads: int = 1
    ) -> None:
        self.config = config = config or MigPlacementConfig()
        worlds = worlds_for(
            config.days, config.pool, config.seed, config.cluster, config.rules, count,
            estimates=config.estimates,
        )  # fmt: skip
        self.slots = worlds.slot_count
        self.actions = self.slots + (1 if config.may_wait else 0)
        width = config.observation.width(self.slots)
        super().__init__(worlds, count, threads, width, self.actions)
        self.mask = self.stage.mask
        self._observe, self._reward = (
            config.observation.write.address,
            config.reward.measure.address,
        )
        self._prices = config.reward.numbers()
        self._facts = [new_table(StepFacts, 1) for _ in range(threads)]

    def observation_space(self) -> spaces.Box:
        """Of one environment."""
        return spaces.Box(-LIMIT, LIMIT, self.seen.shape[1:], np.float32)

    def running(self) -> dict[str, NDArray[Any]]:
        """The mask as `info["action_mask"]`, as Gymnasium's own environments have it."""
        return {**super().running(), "action_mask": self.mask.copy()}

    def _reset(self) -> None:
        kernels.reset_placement(self.stage, self._observe, self.everyone)

    def _step(self, part: int, actions: NDArray[Any]) -> None:
        first, last = self.parts[part]
        facts = self._facts[part]
        kernels.step_placement(
            self.stage, self._observe, self._reward, self._prices.ctypes.data,
            facts, facts.ctypes.data, actions, first, last,
        )  # fmt: skip

    def _checked(self, actions: Any) -> Ints:
        chosen = np.ascontiguousarray(actions, np.int64)
        if chosen.shape != (self.count,):
            raise InvalidAction(f"actions of shape {chosen.shape}, expected ({self.count},)")
        inside = (chosen >= 0) & (chosen < self.actions)
        valid = inside & (self.mask[self.everyone, chosen * inside] > 0)
        if not valid.all():
            at = int(np.argmin(valid))
            raise InvalidAction(
                f"environment {at}: action {chosen[at]} is no slice that the job could take now; "
                "look at the mask"
            )
        return chosen


class MigPlacementVector(BatchVectorEnv):
    """Many of them, as Gymnasium has it; valid actions are in `infos["action_mask"]`."""

    batch: MigPlacementBatch

    def __init__(
        self,
        num_envs: int = 1,
        config: MigPlacementConfig | None = None,
        threads: int = 1,
        copy: bool = True,
    ) -> None:
        batch = MigPlacementBatch(config, num_envs, threads)
        super().__init__(
            batch, batch.observation_space(), spaces.Discrete(batch.actions), copy=copy
        )

    def action_masks(self) -> NDArray[np.bool_]:
        """[environments, actions] valid now."""
        return self.batch.mask > 0
