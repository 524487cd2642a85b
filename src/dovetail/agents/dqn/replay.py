"""Decisions kept for learning: a ring of what all environments saw, did and got."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dovetail.domain.jobs import Bools, Floats, Ints
from dovetail.envs.batch import Seen

PRIORITY_POWER, FLOOR = 0.6, 1e-3


class Remembered(NamedTuple):
    """A batch of decisions, each with what came of it over several steps; `rows` are for `rate`."""

    seen: Seen
    actions: Ints
    rewards: Floats  # of all these steps, discounted
    seconds: Floats  # that they took, discounted alike
    discount: Floats  # of what comes after; 0: the episode ended before
    after: Seen
    weights: Floats  # by which errors count, 1 unless prioritised
    rows: Ints


class ReplayMemory:
    """What follows a decision is the next row of the same environment, so it is stored once."""

    def __init__(self, seen: Seen, capacity: int, steps: int, horizon: float, seed: int) -> None:
        self.environments = len(next(iter(seen.values())))
        self.length = max(2 * steps + 2, capacity // self.environments)
        self.steps, self.horizon = steps, horizon
        shape = (self.length, self.environments)
        self._seen = {
            name: np.zeros((self.length, *part.shape), np.float16 if part.dtype == np.float32 else
                           part.dtype)
            for name, part in seen.items()
        }  # fmt: skip
        self._actions, self._rewards = np.zeros(shape, np.int64), np.zeros(shape)
        self._ended, self._elapsed = np.zeros(shape, np.bool_), np.zeros(shape)
        self._priority = np.zeros(shape)
        self._at, self._full = 0, False
        self._random = np.random.default_rng(seed)

    def add(
        self, seen: Seen, actions: Ints, rewards: Floats, elapsed: Floats, ended: Bools
    ) -> None:
        """What was seen before the actions, and what came of them."""
        at = self._at
        for name, part in seen.items():
            self._seen[name][at] = part
        self._actions[at], self._rewards[at], self._ended[at] = actions, rewards, ended
        self._elapsed[at] = elapsed
        self._priority[at] = max(1.0, float(self._priority.max()))
        self._at = (at + 1) % self.length
        self._full |= self._at == 0

    def draw(self, count: int) -> Remembered:
        """Decisions at random, all alike."""
        usable = (self.length if self._full else self._at) - self.steps
        chosen = self._random.integers(0, usable, count)
        first = self._at if self._full else 0
        environments = self._random.integers(0, self.environments, count)
        return self._batch((first + chosen) % self.length, environments, np.ones(count))

    def draw_by_error(self, count: int) -> Remembered:
        """Decisions with large errors more often, and with a smaller weight each."""
        weight = self._priority**PRIORITY_POWER
        latest = (self._at - 1 - np.arange(self.steps)) % self.length
        weight[latest] = 0.0  # of the latest it is not known what follows
        total = np.cumsum(weight.ravel())
        rows = np.searchsorted(total, self._random.random(count) * total[-1], side="right")
        share = weight.ravel()[rows] / total[-1]
        correction = 1.0 / (np.count_nonzero(weight) * np.maximum(share, 1e-12))
        steps, environments = np.divmod(rows, self.environments)
        return self._batch(steps, environments, np.sqrt(correction / correction.max()))

    def rate(self, rows: Ints, errors: Floats) -> None:
        """Note how wrong the network was about these."""
        self._priority.ravel()[rows] = np.abs(errors) + FLOOR

    def _batch(self, steps: Ints, environments: Ints, weights: Floats) -> Remembered:
        rewards, seconds = np.zeros(len(steps)), np.zeros(len(steps))
        discount, at = np.ones(len(steps)), steps
        for _ in range(self.steps):
            elapsed = self._elapsed[at, environments]
            rewards += discount * self._rewards[at, environments]
            seconds += discount * elapsed
            discount = discount * np.exp(-elapsed / self.horizon)
            discount = np.where(self._ended[at, environments], 0.0, discount)
            at = (at + 1) % self.length
        return Remembered(
            {name: part[steps, environments] for name, part in self._seen.items()},
            self._actions[steps, environments],
            rewards,
            seconds,
            discount,
            {name: part[at, environments] for name, part in self._seen.items()},
            weights,
            steps * self.environments + environments,
        )
