"""Environments of two agents that are stepped together, as a Gymnasium vector environment.

    envs = SelectorAllocatorVector(50, config=SelectorAllocatorConfig())
    seen, infos = envs.reset(seed=0)
    seen, rewards, terminations, truncations, infos = envs.step(seen["mask"].argmax(axis=1))

A step is a decision of whoever has the turn. `jobs` has a row for each thing to choose from: a job
when the selector has the turn, a class of equal nodes when the allocator has; the last number of a
row is 1 for a class. The last action lets the selector wait.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from dovetail.envs.selector_allocator.batch import SelectorAllocatorBatch
from dovetail.envs.selector_allocator.config import SelectorAllocatorConfig
from dovetail.envs.selector_allocator.kernel import SUMMARY, WIDTH
from dovetail.envs.selector_allocator.pool import SelectorAllocatorPool
from dovetail.envs.vector import BatchVectorEnv
from dovetail.envs.visible_jobs import SHOWN


class SelectorAllocatorVector(BatchVectorEnv):
    """`num_envs` environments stepped by one call; environments may share a pool of windows."""

    batch: SelectorAllocatorBatch

    def __init__(
        self,
        num_envs: int = 1,
        config: SelectorAllocatorConfig | None = None,
        pool: SelectorAllocatorPool | None = None,
        copy: bool = True,
    ) -> None:
        self.pool = pool or SelectorAllocatorPool(config or SelectorAllocatorConfig())
        seen: Any = spaces.Dict(
            {
                "jobs": spaces.Box(-1.0, 1.0, (SHOWN, WIDTH), np.float32),
                "critic": spaces.Box(-1.0, 1.0, (SHOWN, SUMMARY), np.float32),
                "mask": spaces.MultiBinary(SHOWN + 1),
            }
        )
        batch = SelectorAllocatorBatch(self.pool, num_envs)
        super().__init__(batch, seen, spaces.Discrete(SHOWN + 1), copy)
