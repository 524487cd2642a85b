"""Many environments of sliced GPUs stepped by one call, resets included.

    batch = MigPlacementBatch(MigPlacementConfig(), count=256, threads=2)
    seen, mask = batch.reset(seed=0)
    seen, mask, rewards, dones, infos = batch.step(mask.argmax(axis=1))    # valid by mask

Environment i goes exactly as a single environment that is reset with `seed + i` and, whenever a
day ends, reset without a seed. `seen` and `mask` are written anew by every step: copy what is to
be kept.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np
from gymnasium.utils import seeding
from numpy.typing import NDArray

from dovetail.compiled.tables import new_table
from dovetail.domain.errors import ConfigError
from dovetail.domain.jobs import Bools, Floats, Ints
from dovetail.envs.batch import InvalidAction
from dovetail.mig.envs import placement_kernel as kernels
from dovetail.mig.envs.config import MigPlacementConfig
from dovetail.mig.envs.days import Days
from dovetail.mig.envs.observation import Singles
from dovetail.mig.envs.placement_kernel import MigStage
from dovetail.mig.envs.reward import StepFacts
from dovetail.mig.gpus.cluster import MigCluster
from dovetail.mig.simulator.tables import MigRules, MigWorlds, WorkloadTables
from dovetail.mig.workload.estimates import EXACT, estimates_of_days

Infos = dict[str, NDArray[Any]]
Mask = NDArray[np.int8]


class MigBatch:
    """MigWorlds, the days that they play, and threads that each step a part of them."""

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
            scores=np.zeros((count, 3)),
        )
        self._randoms = [seeding.np_random(None)[0] for _ in range(count)]
        self.everyone = np.arange(count)
        self.parts = list(pairwise(np.linspace(0, count, threads + 1).astype(int).tolist()))
        self._threads = ThreadPoolExecutor(threads) if threads > 1 else None
        self.begun = False

    @property
    def days(self) -> int:
        """How many days there are to play."""
        return len(self.worlds.stock)

    def seed(self, seed: int | None) -> None:
        """Environment i draws its days by `seed + i`."""
        if seed is not None:
            self._randoms = [seeding.np_random(seed + i)[0] for i in range(self.count)]

    def draw(self, environments: Ints) -> None:
        """Decide on the days that follow, so that a step never has to come back and ask."""
        for i in environments.tolist():
            self.stage.following[i] = self._randoms[i].integers(self.days)
            self.stage.chances[i] = self._randoms[i].integers(2**63)

    def each_part(self, step: Callable[[int], None]) -> None:
        """Run a step for every part, by all threads."""
        if self._threads is None:
            step(0)
        else:
            list(self._threads.map(step, range(len(self.parts))))

    def outcome(self) -> tuple[Floats, Bools, Infos]:
        """Rewards, ends, and, if a day has ended anywhere, how it went there (NaN elsewhere)."""
        rewards, dones = self.stage.rewards.copy(), self.stage.dones.copy()
        if not dones.any():
            return rewards, dones, {}
        self.draw(np.flatnonzero(dones))
        scores = np.where(dones[:, None], self.stage.scores, np.nan)
        names = ("late_share", "tardiness_mean", "energy_watt_minutes")
        return rewards, dones, dict(zip(names, scores.T, strict=True))

    def close(self) -> None:
        """Let the threads go."""
        if self._threads is not None:
            self._threads.shutdown()


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


class MigPlacementBatch:
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
        self.batch = MigBatch(worlds, count, threads, width, self.actions)
        self.count, self.stage = count, self.batch.stage
        self._observe, self._reward = (
            config.observation.write.address,
            config.reward.measure.address,
        )
        self._prices = config.reward.numbers()
        self._facts = [new_table(StepFacts, 1) for _ in range(threads)]

    def reset(self, seed: int | None = None) -> tuple[Singles, Mask]:
        """Begin a new day everywhere; environment i is seeded with `seed + i`."""
        self.batch.seed(seed)
        self.batch.draw(self.batch.everyone)
        return self.begin(self.stage.following.copy())

    def begin(self, days: Any) -> tuple[Singles, Mask]:
        """Begin these days of the pool, one for each environment."""
        self.stage.following[:] = days
        kernels.reset_placement(self.stage, self._observe, self.batch.everyone)
        self.batch.draw(self.batch.everyone)
        self.batch.begun = True
        return self.stage.seen, self.stage.mask

    def step(self, actions: Any) -> tuple[Singles, Mask, Floats, Bools, Infos]:
        """One decision everywhere; where a day ends, what is seen is of the next one."""
        chosen = np.ascontiguousarray(actions, np.int64)
        self._refuse_invalid(chosen)
        self.batch.each_part(lambda part: self._step(part, chosen))
        return self.stage.seen, self.stage.mask, *self.batch.outcome()

    def close(self) -> None:
        self.batch.close()

    def _step(self, part: int, actions: Ints) -> None:
        first, last = self.batch.parts[part]
        facts = self._facts[part]
        kernels.step_placement(
            self.stage, self._observe, self._reward, self._prices.ctypes.data,
            facts, facts.ctypes.data, actions, first, last,
        )  # fmt: skip

    def _refuse_invalid(self, actions: Ints) -> None:
        if not self.batch.begun:
            raise InvalidAction("step before the first reset; call reset() once")
        if actions.shape != (self.count,):
            raise InvalidAction(f"actions of shape {actions.shape}, expected ({self.count},)")
        inside = (actions >= 0) & (actions < self.actions)
        valid = inside & (self.stage.mask[self.batch.everyone, actions * inside] > 0)
        if not valid.all():
            at = int(np.argmin(valid))
            raise InvalidAction(
                f"environment {at}: action {actions[at]} is no slice that the job could take now; "
                "look at the mask"
            )
