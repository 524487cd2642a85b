"""What both single MIG environments share: a batch of one, whose episode is a day."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np

from dovetail.mig.envs.observation import Singles


class SingleDay(gymnasium.Env[Any, Any]):
    """A subclass sets `_one`, its batch of one, and the spaces."""

    metadata = {"render_modes": []}  # noqa: RUF012 - Gymnasium's own way
    _one: Any
    _over = True

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

    def step(self, action: Any) -> tuple[Singles, float, bool, bool, dict[str, Any]]:
        if self._over:
            raise gymnasium.error.ResetNeeded("the day has ended; call reset() first")
        *_, rewards, dones, infos = self._one.step(np.asarray(action)[None])
        self._over = bool(dones[0])
        info = {name: float(values[0]) for name, values in infos.items()}
        return self._seen(), float(rewards[0]), self._over, False, info

    def _seen(self) -> Singles:
        """A copy: what was returned before must not change. After the end nothing is shown."""
        seen: Singles = self._one.stage.seen[0]
        return np.zeros_like(seen) if self._over else seen.copy()
