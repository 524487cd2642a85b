"""Many environments of sliced GPUs stepped by one call, resets included: what both kinds share.

Environment i goes exactly as a single environment that is reset with `seed + i` and, whenever a
day ends, reset without a seed. What is seen is written anew by every step.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dovetail.domain.errors import ConfigError
from dovetail.domain.jobs import Ints
from dovetail.mig.envs.days import Days
from dovetail.mig.envs.placement_kernel import MigStage
from dovetail.mig.gpus.cluster import MigCluster
from dovetail.mig.simulator.tables import MigRules, MigWorlds, WorkloadTables
from dovetail.mig.workload.estimates import EXACT, estimates_of_days

SCORES = ("late_share", "tardiness_mean", "energy_watt_minutes")
"""How a day went, as `MigStage.scores` has it."""


class MigBatch(ABC):
    """Worlds, the days that they play, and threads that each step a part of them."""

    def __init__(
        self, worlds: MigWorlds, count: int, threads: int, width: int, actions: int
    ) -> None:
        if not 1 <= threads <= count:
            raise ConfigError(f"{threads} threads for {count} environments: expected 1 to {count}")
        self.worlds, self.count = worlds, count
        seen = np.zeros((count, width), np.float32)
        self.stage = MigStage(
            worlds=worlds.world,
            home=np.column_stack([addresses(worlds.world), addresses(seen)]),
            days=worlds.stock.address,
            initial=worlds.initial,
            playing=np.zeros(count, np.int64),
            following=np.zeros(count, np.int64),
            chances=np.zeros(count, np.uint64),
            seen=seen,
            mask=np.zeros((count, actions), np.int8),
            rewards=np.zeros(count),
            dones=np.zeros(count, np.bool_),
            scores=np.zeros((count, len(SCORES))),
        )
        self.seen, self.rewards, self.dones = seen, self.stage.rewards, self.stage.dones
        self.everyone = np.arange(count)
        self.parts = list(pairwise(np.linspace(0, count, threads + 1).astype(int).tolist()))
        self._threads = ThreadPoolExecutor(threads) if threads > 1 else None

    @property
    def days(self) -> int:
        """How many days there are to play."""
        return len(self.worlds.stock)

    def follow(self, environment: int, random: np.random.Generator) -> None:
        """Decide on the day that follows, so that a step never has to come back and ask."""
        self.stage.following[environment] = random.integers(self.days)
        self.stage.chances[environment] = random.integers(2**63)

    def begin(self, options: Mapping[str, Any] | None = None) -> None:
        """Begin the days that follow, or those of the pool that `options["day"]` names."""
        if options and "day" in options:
            days = np.broadcast_to(np.asarray(options["day"], np.int64), self.count)
            if not np.all((days >= 0) & (days < self.days)):
                raise ConfigError(f"there are the days 0 to {self.days - 1}, not {options['day']}")
            self.stage.following[:] = days
        self._reset()

    def step(self, actions: Any) -> None:
        """One decision everywhere; where a day ends, what is seen is of the next one."""
        chosen = self._checked(actions)
        self._each_part(lambda part: self._step(part, chosen))

    def running(self) -> dict[str, NDArray[Any]]:
        return {"day": self.stage.playing.copy()}

    def ended(self) -> dict[str, NDArray[Any]]:
        """How the days went that have just ended."""
        return dict(zip(SCORES, self.stage.scores.T.copy(), strict=True))

    def close(self) -> None:
        """Let the threads go."""
        if self._threads is not None:
            self._threads.shutdown()

    @abstractmethod
    def _reset(self) -> None: ...

    @abstractmethod
    def _checked(self, actions: Any) -> NDArray[Any]:
        """As the kernel wants them; InvalidAction for what no environment can do."""

    @abstractmethod
    def _step(self, part: int, actions: NDArray[Any]) -> None: ...

    def _each_part(self, step: Callable[[int], None]) -> None:
        """Run a step for every part, by all threads."""
        if self._threads is None:
            step(0)
        else:
            list(self._threads.map(step, range(len(self.parts))))


def addresses(rows: NDArray[Any]) -> Ints:
    """Of each row of an array."""
    return rows.ctypes.data + rows.strides[0] * np.arange(len(rows))


def worlds_for(
    days: Days, pool: int, seed: int, cluster: MigCluster, rules: MigRules, count: int,
    room: int | None = None, estimates: str = EXACT,
) -> MigWorlds:  # fmt: skip
    """MigWorlds over a pool of days."""
    drawn = days.draw(pool, seed)
    tables = WorkloadTables(drawn, estimates_of_days(drawn, estimates, seed))
    return MigWorlds(cluster, tables, count, rules, room)
