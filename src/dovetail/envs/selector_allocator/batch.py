"""Environments of two agents side by side in memory, stepped by one kernel call.

A step is one decision of whoever has the turn, in every environment; `turn` says who that is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dovetail.compiled.native import Kept
from dovetail.compiled.tables import new_table
from dovetail.domain.errors import ConfigError
from dovetail.domain.jobs import Ints
from dovetail.domain.node_classes import CLASSES
from dovetail.envs.batch import InvalidAction, Seen, whole_numbers, windows_of
from dovetail.envs.batch_kernel import BatchState, longest_copy
from dovetail.envs.selector_allocator.config import AGENT_NAMES
from dovetail.envs.selector_allocator.kernel import (
    ALLOCATES,
    OVER,
    PAIR_ARGUMENTS,
    SUMMARY,
    WAIT,
    WIDTH,
    PairArguments,
    PairState,
    step_pair,
)
from dovetail.envs.selector_allocator.pool import SelectorAllocatorPool
from dovetail.envs.selector_allocator.reward import METRIC_NAMES
from dovetail.envs.visible_jobs import SHOWN
from dovetail.policies.features import FEATURES
from dovetail.policies.node_features import NODE_FEATURES
from dovetail.simulator.kernel.rows import World

SCRATCH = max(len(FEATURES), len(NODE_FEATURES))


class SelectorAllocatorBatch:
    """`count` environments."""

    def __init__(self, pool: SelectorAllocatorPool, count: int = 1) -> None:
        if count < 1:
            raise ConfigError(f"{count} environments: expected 1 or more")
        self.pool, self.count = pool, count
        self.stage, self.pair = _new_stage(pool, count), _new_pair(pool, count)
        stage = self.stage
        self.seen: Seen = {"jobs": stage.jobs, "critic": stage.critic, "mask": stage.mask}
        self.rewards, self.dones, self.turn = stage.rewards, stage.dones, self.pair.turn
        self._kept = Kept(
            PairArguments(
                stage, pool.windows, self.pair, pool.rules,
                np.zeros((SCRATCH, SHOWN)), np.zeros(len(METRIC_NAMES)),
            ),
            PAIR_ARGUMENTS,
        )  # fmt: skip

    def follow(self, environment: int, random: np.random.Generator) -> None:
        """Decide on the window that comes next, so that a step never has to come back and ask."""
        windows = self._windows_with_decisions()
        self.stage.following[environment] = windows[random.integers(len(windows))]

    def begin(self, options: Mapping[str, Any] | None = None) -> None:
        """Begin the windows that follow, or those in `options["window"]`, everywhere."""
        if options and "window" in options:
            self.stage.following[:] = windows_of(options["window"], len(self.pool), self.count)
        self.turn[:] = OVER
        step_pair(self._kept.address, 0, self.count)
        self._refuse_windows_without_decisions()

    def step(self, actions: Any) -> None:
        """One decision everywhere; where an episode ends, the one that follows begins."""
        if np.shape(actions) != (self.count,):
            raise InvalidAction(
                f"actions of shape {np.shape(actions)}, expected ({self.count},), one for each"
            )
        chosen = whole_numbers("actions", actions)
        self._refuse_illegal(chosen)
        self.stage.actions[:] = chosen
        step_pair(self._kept.address, 0, self.count)
        self._refuse_windows_without_decisions()

    def running(self) -> dict[str, NDArray[Any]]:
        """Of the episodes that are being played: the number of the window in the pool."""
        return {"window": self.stage.playing.copy()}

    def ended(self) -> dict[str, NDArray[Any]]:
        """Of the episodes that ended with the last step: the metrics, ours and the base pair's."""
        found: dict[str, NDArray[Any]] = {"window": self.stage.played.copy()}
        for i, name in enumerate(METRIC_NAMES):
            found[name] = self.pair.final[:, i].copy()
            found[f"base_{name}"] = self.pool.base[self.stage.played, i]
        return found

    def close(self) -> None:
        """Nothing is held."""

    def _refuse_illegal(self, actions: Ints) -> None:
        mask = self.stage.mask
        within = (actions >= 0) & (actions < mask.shape[1])
        legal = within & (mask[np.arange(self.count), np.where(within, actions, 0)] > 0)
        if legal.all():
            return
        at = int(np.flatnonzero(~legal)[0])
        who = AGENT_NAMES[int(self.turn[at] == ALLOCATES)]
        shown = int(self.pair.filled[at])
        raise InvalidAction(
            f"environment {at}: action {actions[at]} of the {who} is not legal, expected 0 to "
            f"{shown - 1} (or {WAIT} where the mask lets the selector wait)"
        )

    def _windows_with_decisions(self) -> Ints:
        """Those that may be drawn; up to the first decision nobody has chosen anything yet."""
        if self.pool.playable is None:
            probe = SelectorAllocatorBatch(self.pool)
            found = np.flatnonzero([probe._has_decisions(each) for each in range(len(self.pool))])
            if len(found) == 0:
                raise ConfigError(
                    f"no window has anything to decide for {', '.join(self.pool.config.asked)}; "
                    "use longer windows or a higher load"
                )
            self.pool.playable = found
        return self.pool.playable

    def _has_decisions(self, window: int) -> bool:
        self.stage.following[:], self.turn[:] = window, OVER
        step_pair(self._kept.address, 0, self.count)
        return bool(self.turn[0] != OVER)

    def _refuse_windows_without_decisions(self) -> None:
        if np.any(self.turn == OVER):
            window = int(self.stage.playing[np.flatnonzero(self.turn == OVER)[0]])
            raise ConfigError(
                f"window {window} has nothing to decide for {', '.join(self.pool.config.asked)}; "
                "use longer windows or a higher load"
            )


def _new_stage(pool: SelectorAllocatorPool, count: int) -> BatchState:
    worlds = new_table(World, count)
    capacity = longest_copy(pool.windows)
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
        jobs=np.zeros((count, SHOWN, WIDTH), np.float32),
        critic=np.zeros((count, SHOWN, SUMMARY), np.float32),
        mask=np.zeros((count, SHOWN + 1), np.int8),
        rewards=np.zeros(count),
        scores=np.zeros(count),
        played=np.zeros(count, np.int64),
        dones=np.zeros(count, np.bool_),
        actions=np.zeros(count, np.int64),
    )


def _new_pair(pool: SelectorAllocatorPool, count: int) -> PairState:
    metrics = len(METRIC_NAMES)
    config = pool.config
    return PairState(
        turn=np.full(count, OVER, np.int64),
        hand=np.zeros(count, np.int64),
        way=np.zeros(count, np.int64),
        picked=np.zeros(count, np.int64),
        classes=np.zeros((count, CLASSES), np.int64),
        class_count=np.zeros(count, np.int64),
        filled=np.zeros(count, np.int64),
        charged=np.zeros((count, metrics)),
        final=np.zeros((count, metrics)),
        expected=np.zeros((count, metrics)),
        base=np.maximum(pool.base, 1.0),
        base_runs=pool.base_runs,
        base_first=pool.base_first,
        weights=config.weights.numbers(),
        asked=np.array([name in config.asked for name in AGENT_NAMES], np.int64),
    )
