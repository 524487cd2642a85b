"""What both single MIG environments share: a batch of one, whose episode is a day."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np

from dovetail.mig.envs.batch import MigBatch
from dovetail.mig.envs.observation import Singles


class SingleDay(gymnasium.Env[Any, Any]):
    """A subclass sets `batch`, which is of one, and the spaces."""

    metadata = {"render_modes": []}  # noqa: RUF012 - Gymnasium's own way
    batch: MigBatch
    _over = True

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Singles, dict[str, Any]]:
        """Begin a day of the pool: a random one, or the one in `options["day"]`."""
        super().reset(seed=seed)
        self.batch.follow(0, self.np_random)
        self.batch.begin(options)
        self._over = False
        return self._seen(), {name: part[0] for name, part in self.batch.running().items()}

    def step(self, action: Any) -> tuple[Singles, float, bool, bool, dict[str, Any]]:
        if self._over:
            raise gymnasium.error.ResetNeeded("the day has ended; call reset() first")
        self.batch.step(np.asarray(action)[None])
        self._over = bool(self.batch.dones[0])
        told = self.batch.ended() if self._over else self.batch.running()
        info = {name: part[0] for name, part in told.items()}
        return self._seen(), float(self.batch.rewards[0]), self._over, False, info

    def _seen(self) -> Singles:
        """A copy: what was returned before must not change. After the end nothing is shown."""
        seen: Singles = self.batch.seen[0]
        return np.zeros_like(seen) if self._over else seen.copy()
