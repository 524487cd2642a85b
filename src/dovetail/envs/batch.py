"""Queue-priority environments side by side in memory, stepped by one kernel call per thread.

Nothing here knows of Gymnasium: `queue_priority` and `vector` do. What is seen, rewarded and done
lies in the stage's arrays, which every step writes anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dovetail.compiled.native import Kept
from dovetail.compiled.tables import new_table
from dovetail.domain.arguments import abbreviate
from dovetail.domain.errors import ConfigError, DovetailError
from dovetail.domain.jobs import Ints
from dovetail.envs import batch_kernel as kernels
from dovetail.envs.batch_kernel import ARGUMENTS, DECLINE, Arguments, BatchState, longest_copy
from dovetail.envs.pool import Pool
from dovetail.envs.visible_jobs import SHOWN, scratch_for
from dovetail.policies.features import EVERY_FEATURE
from dovetail.simulator.kernel.rows import World

Seen = dict[str, NDArray[Any]]


class InvalidAction(DovetailError, ValueError):  # noqa: N818 - reads as what happened
    """An action that the mask rules out."""


class IllegalActions(Enum):
    """What an action that the mask rules out means."""

    ERROR = "error"  # it is raised as InvalidAction: the learner's mask is broken
    WAIT = "wait"  # nothing more starts before the next event; for learners without masks

    @classmethod
    def _missing_(cls, value: object) -> IllegalActions:
        known = ", ".join(part.value for part in cls)
        raise ConfigError(f"illegal_actions is {value!r}, expected one of {known}")


class QueuePriorityBatch:
    """`count` environments; several threads each step a part of them."""

    def __init__(
        self,
        pool: Pool,
        count: int = 1,
        threads: int = 1,
        illegal_actions: IllegalActions | str = IllegalActions.ERROR,
    ) -> None:
        if not 1 <= threads <= count:
            raise ConfigError(f"{threads} threads for {count} environments: expected 1 to {count}")
        self.pool, self.count = pool, count
        self.stage = stage = _new_stage(pool, count)
        self.seen: Seen = {"jobs": stage.jobs, "critic": stage.critic, "mask": stage.mask}
        self.rewards, self.dones = stage.rewards, stage.dones
        self._waits = IllegalActions(illegal_actions) is IllegalActions.WAIT
        self._taken = np.zeros(1, np.int64)
        self._kept = [
            Kept(
                Arguments(
                    self._taken,
                    stage,
                    pool.windows,
                    pool.play,
                    np.zeros((len(EVERY_FEATURE), max(SHOWN, pool.most_demands))),
                    scratch_for(pool.most_jobs),
                ),
                ARGUMENTS,
            )
            for _ in range(threads)
        ]
        self._at = self._kept[0].address
        self._others = ThreadPoolExecutor(max(1, threads - 1))  # starts none before it is asked

    def follow(self, environment: int, random: np.random.Generator) -> None:
        """Decide on the window that comes next, so that a step never has to come back and ask."""
        self.stage.following[environment] = random.integers(len(self.pool))

    def begin(self, options: Mapping[str, Any] | None = None) -> None:
        """Begin the windows that follow, or those in `options["window"]`, everywhere."""
        if options and "window" in options:
            self.stage.following[:] = windows_of(options["window"], len(self.pool), self.count)
        kernels.reset(self._at)

    def step(self, actions: Any) -> None:
        """One decision everywhere; where an episode ends, the one that follows begins."""
        if np.shape(actions) != (self.count,):
            raise InvalidAction(
                f"actions of shape {np.shape(actions)}, expected ({self.count},), one for each"
            )
        self.stage.actions[:] = whole_numbers("actions", actions)
        if self._waits:
            kernels.let_illegal_wait(self._at)
        else:
            self._refuse_illegal()
        self._taken[0] = 0
        others = [self._others.submit(kernels.step, kept.address) for kept in self._kept[1:]]
        kernels.step(self._at)
        for other in others:
            other.result()

    def running(self) -> dict[str, NDArray[Any]]:
        """Of the episodes that are being played: the number of the window in the pool."""
        return {"window": self.stage.playing.copy()}

    def ended(self) -> dict[str, NDArray[Any]]:
        """Of the episodes that ended with the last step: scores by the config's metric."""
        stage = self.stage
        return {
            "window": stage.played.copy(),
            "score": stage.scores.copy(),
            "base": self.pool.windows.base[stage.played],
        }

    def close(self) -> None:
        """Let the threads go."""
        self._others.shutdown()

    def _refuse_illegal(self) -> None:
        at = kernels.first_illegal(self._at)
        if at >= 0:
            action, shown = int(self.stage.actions[at]), int(self.stage.shown[at])
            raise InvalidAction(_refusal(action, shown, at))


def _refusal(action: int, shown: int, environment: int) -> str:
    """What is wrong with an action, and what would be right."""
    if action == DECLINE:
        return (
            f"environment {environment}: action {DECLINE} declines to backfill, but no job holds "
            "a reservation that could be passed; look at the mask"
        )
    return (
        f"environment {environment}: action {action} names no job, expected 0 to {shown - 1} "
        f"(or {DECLINE} where the mask allows it); learners without masks use "
        'illegal_actions="wait"'
    )


def windows_of(given: Any, pool: int, count: int) -> Ints:
    """Numbers of windows in a pool, one for all environments or one for each."""
    windows = whole_numbers("windows", given)
    if windows.shape not in ((), (count,)) or not np.all((windows >= 0) & (windows < pool)):
        # Compiled code does not look at bounds: it would read whatever lies there.
        raise ConfigError(
            f"window {abbreviate(given)}: expected 0 to {pool - 1}, the pool's, one for all or one "
            f"for each of {count}"
        )
    return windows


def whole_numbers(name: str, given: Any) -> Ints:
    """An array of whole numbers; nothing is rounded or read from text."""
    try:
        found = np.asarray(given)
    except ValueError:  # lists of different lengths
        found = np.empty(0, object)
    if found.dtype.kind not in "iu":
        raise InvalidAction(f"{name} are {abbreviate(given)}, expected whole numbers")
    return found.astype(np.int64)


def _new_stage(pool: Pool, count: int) -> BatchState:
    windows, look = pool.windows, pool.config.observation
    worlds = new_table(World, count)
    capacity = longest_copy(windows)
    # Not zeros: NumPy asks for huge pages for empty arrays only. With them a decision among 256
    # environments took 10.0 instead of 13.8 µs, observation aside.
    arenas = np.empty((count, capacity), np.int64)
    return BatchState(
        worlds=worlds,
        words=worlds.view(np.int64).reshape(count, -1),
        arenas=arenas,
        home=arenas.ctypes.data + 8 * capacity * np.arange(count),
        playing=np.zeros(count, np.int64),
        following=np.zeros(count, np.int64),
        rows=np.zeros((count, SHOWN), np.int64),
        shown=np.zeros(count, np.int64),
        jobs=np.zeros((count, SHOWN, look.width), np.float32),
        critic=np.zeros((count, SHOWN, look.critic_width), np.float32),
        mask=np.zeros((count, SHOWN + 1), np.int8),
        rewards=np.zeros(count),
        scores=np.zeros(count),
        played=np.zeros(count, np.int64),
        dones=np.zeros(count, np.bool_),
        actions=np.zeros(count, np.int64),
    )
