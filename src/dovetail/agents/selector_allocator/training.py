"""A selector and an allocator that learn together by PPO, with one critic for both.

    dovetail train --agent selector-allocator --trace history.parquet --cluster cluster.toml
    dovetail train --agent selector-allocator --set selector=saf …    # the allocator alone

Both begin as the base pair: the ordering and the placement that were chosen, or those named in the
place of a half. A search over replays improves their linear parts, PPO the networks. The first
part of what is given is learned from; replays of the rest choose the best networks, and whether the
pair, the selector or the allocator alone is handed to the gate.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from dovetail.agents.choice.cells import SiteHistory
from dovetail.agents.history import facts
from dovetail.agents.ppo.learner import Ppo
from dovetail.agents.ppo.run import STATE_FILE, PpoRun, one_thread
from dovetail.agents.replays import ReplayCell
from dovetail.agents.selector_allocator.config import (
    FROZEN,
    LEARNED,
    SelectorAllocatorSettings,
)
from dovetail.agents.selector_allocator.halves import best_halves
from dovetail.agents.selector_allocator.imitation import imitate
from dovetail.agents.selector_allocator.linear_search import LinearParts, LinearSearch
from dovetail.agents.selector_allocator.networks import PairActor, PairCritic
from dovetail.agents.selector_allocator.replays import KIND, PairReplays, open_replays
from dovetail.agents.selector_allocator.starts import ALLOCATOR_SCALE, SELECTOR_SCALE, begin_as
from dovetail.agents.training import Lesson
from dovetail.domain.errors import ConfigError
from dovetail.domain.estimates import Estimates
from dovetail.envs.selector_allocator.config import SelectorAllocatorConfig
from dovetail.envs.selector_allocator.pool import SelectorAllocatorPool
from dovetail.envs.selector_allocator.vector import SelectorAllocatorVector
from dovetail.envs.windows import TraceWindows
from dovetail.policies.learned.checkpoint import Checkpoint, load_checkpoint

CONGESTED = 60.0
"""Seconds of mean wait from which on a window is learned from: rewards are shares of what the base
pair's jobs wait, and where that is a few seconds one job outweighs a thousand elsewhere."""


@dataclass(frozen=True, slots=True)
class PairProgress:
    """One epoch; above 0 is better."""

    epoch: int
    epochs: int
    gap: float  # of sampled actions, in training, as a share of the base pair's metrics
    validation: float  # of the best networks so far, against the choice

    def __str__(self) -> str:
        word = "better" if self.validation >= 0 else "worse"
        return (
            f"epoch {self.epoch}/{self.epochs}: {abs(self.validation):.1%} {word} than the choice"
        )


def learn(lesson: Lesson, config: SelectorAllocatorSettings) -> Checkpoint:
    """The best pair on validation; goes on where an earlier call stopped."""
    if len(lesson.histories) != 1:
        raise ConfigError(
            f"selector-allocator learns from one history at a time, not from "
            f"{len(lesson.histories)}; the agent evolution learns from several"
        )
    (history,) = lesson.histories
    about = {
        **facts("selector-allocator", config, [history.site]),
        "estimates": lesson.choice.estimates,
    }
    with open_replays(lesson, history, config) as replays, one_thread():
        with closing(_PairRun(lesson, history, config, about, replays)) as run:
            run.go_on(lesson.report)
        return best_halves(load_checkpoint(lesson.folder), lesson.choice, replays)


class _PairRun(PpoRun[PairProgress]):
    """Two heads, one critic, and windows in which the base pair's jobs wait."""

    kind = KIND

    def __init__(
        self,
        lesson: Lesson,
        history: SiteHistory,
        config: SelectorAllocatorSettings,
        facts: dict[str, Any],
        replays: PairReplays,
    ) -> None:
        choice = lesson.choice
        super().__init__(lesson.folder, config, facts, choice.estimates)
        self.config, self.replays = config, replays
        networks = (LEARNED, FROZEN)
        self.order = choice.order if config.selector in networks else config.selector
        self.place = choice.placement if config.allocator in networks else config.allocator
        cluster = history.site.cluster
        told = ReplayCell(history.trace, cluster, history.forecast, 0, config.seed).told(
            choice.estimates
        )
        pool = self._pool(history, told)
        self.environments = SelectorAllocatorVector(config.environments, pool=pool, copy=False)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(config.seed)
            self.actor, critic = PairActor(), PairCritic()
        self.linear = begin_as(self.actor, self.order, self.place, cluster.total_gpus)
        self.learner = Ppo(self.actor, critic, config.ppo)

    def go_on(self, report: Any) -> None:
        """Imitate and search first, unless an earlier training is gone on with."""
        if not (self.folder / STATE_FILE).exists():
            config = self.config
            if not self.linear:
                imitate(
                    self.actor, self.environments, config.imitated, config.imitation_passes,
                    np.random.default_rng((config.seed, 1 << 20)),
                )  # fmt: skip
            if config.search_epochs > 0:
                parts = LinearParts([(half.skip, scale) for half, scale in self._learners()])
                LinearSearch(
                    self.folder, self.facts, parts, self.arrays, self.replays, config
                ).run()
        self._freeze()
        super().go_on(report)

    def measure(self) -> float:
        """How much better than the choice the exported networks are on validation replays."""
        loss = self.replays.validate(self.arrays()).loss
        return 0.0 if math.isnan(loss) else -loss

    def progress(self, loss: float) -> PairProgress:
        return PairProgress(self.epoch, self.config.epochs, loss, self.best)

    def arrays(self) -> Mapping[str, NDArray[Any]]:
        """Networks of the halves that are asked, names of the heuristics in the place of others."""
        found = {
            name: part
            for name, part in self.actor.arrays().items()
            if name.partition("_")[0] in self.config.asked
        }
        if "selector" not in self.config.asked:
            found["order"] = np.array(self.order)
        if "allocator" not in self.config.asked:
            found["placement"] = np.array(self.place)
        return found

    def _learners(self) -> list[tuple[Any, float]]:
        """The networks that learn, and the scales of their linear parts."""
        halves = (
            (self.actor.selector, SELECTOR_SCALE, self.config.selector),
            (self.actor.allocator, ALLOCATOR_SCALE, self.config.allocator),
        )
        return [(half, scale) for half, scale, how in halves if how == LEARNED]

    def _freeze(self) -> None:
        self.actor.requires_grad_(False)
        for half, _ in self._learners():
            half.requires_grad_(True)

    def _pool(self, history: SiteHistory, told: Estimates) -> SelectorAllocatorPool:
        rows, config = slice(0, history.learning), self.config
        trace = history.trace.slice(rows.start, rows.stop)
        windows = TraceWindows(
            trace, history.site.cluster, min(config.length, len(trace)), told.take(rows)
        )
        return SelectorAllocatorPool(
            SelectorAllocatorConfig(
                windows,
                self.order,
                self.place,
                config.asked,
                config.weights,
                config.windows,
                config.seed,
                CONGESTED,
            )
        )
