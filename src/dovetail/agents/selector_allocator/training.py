"""A selector and an allocator that learn together by PPO, with one critic for both.

    dovetail train --agent selector-allocator --trace history.parquet --cluster cluster.toml
    dovetail train --agent selector-allocator --set selector=saf …    # the allocator alone

Both begin by imitating the base pair: the ordering and the placement that were chosen, or those
named in the place of a half. The first eight ninths of what is known make the windows to learn in,
the last ninth those by which the best networks are chosen.
"""

from __future__ import annotations

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
from dovetail.agents.rltune.starts import saf
from dovetail.agents.selector_allocator.config import (
    FROZEN,
    LEARNED,
    SelectorAllocatorSettings,
)
from dovetail.agents.selector_allocator.imitation import imitate
from dovetail.agents.selector_allocator.networks import PairActor, PairCritic
from dovetail.agents.training import Lesson
from dovetail.domain.errors import ConfigError
from dovetail.domain.estimates import Estimates
from dovetail.envs.selector_allocator.config import SelectorAllocatorConfig
from dovetail.envs.selector_allocator.pool import SelectorAllocatorPool
from dovetail.envs.selector_allocator.vector import SelectorAllocatorVector
from dovetail.envs.windows import TraceWindows
from dovetail.policies.learned.checkpoint import Checkpoint, load_checkpoint
from dovetail.policies.selections import ALL

TEMPERATURE = 2.0
"""Of the selector's start as SAF, before it imitates."""

PACKING = 30.0
"""The same of the allocator's start as best-fit; imitation has only to refine it."""


@dataclass(frozen=True, slots=True)
class PairProgress:
    """One epoch; gaps are shares of the base pair's metrics, above 0 is better."""

    epoch: int
    epochs: int
    base: str
    gap: float  # of sampled actions, in training
    validation: float  # of the best networks so far

    def __str__(self) -> str:
        word = "better" if self.validation >= 0 else "worse"
        return (
            f"epoch {self.epoch}/{self.epochs}: {abs(self.validation):.1%} {word} than {self.base}"
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
    run = _PairRun(lesson, history, config, about)
    with one_thread(), closing(run):
        run.go_on(lesson.report)
    return load_checkpoint(lesson.folder)


class _PairRun(PpoRun[PairProgress]):
    """Two heads, one critic, and windows in which the base pair's jobs wait."""

    kind = "selector-allocator"

    def __init__(
        self,
        lesson: Lesson,
        history: SiteHistory,
        config: SelectorAllocatorSettings,
        facts: dict[str, Any],
    ) -> None:
        choice = lesson.choice
        super().__init__(lesson.folder, config, facts, choice.estimates)
        self.config = config
        networks = (LEARNED, FROZEN)
        self.order = choice.order if config.selector in networks else config.selector
        self.place = choice.placement if config.allocator in networks else config.allocator
        cluster, known = history.site.cluster, len(history.trace)
        told = ReplayCell(history.trace, cluster, history.forecast, 0, config.seed).told(
            choice.estimates
        )
        learning, validation = slice(0, history.learning), slice(history.learning, known)
        pool = self._pool(history, told, learning, config.windows, config.seed)
        self.environments = SelectorAllocatorVector(config.environments, pool=pool, copy=False)
        pool = self._pool(history, told, validation, config.validation_windows, config.seed + 1)
        self.validation = SelectorAllocatorVector(len(pool), pool=pool, copy=False)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(config.seed)
            self.actor, critic = PairActor(), PairCritic()
        self.actor.selector.follow(saf(ALL, cluster.total_gpus, TEMPERATURE))
        self.actor.allocator.follow_best_fit(PACKING)
        self.learner = Ppo(self.actor, critic, config.ppo)

    def go_on(self, report: Any) -> None:
        """Imitate first, unless an earlier training is gone on with."""
        if not (self.folder / STATE_FILE).exists():
            config = self.config
            with one_thread():
                imitate(
                    self.actor, self.environments, config.imitated, config.imitation_passes,
                    np.random.default_rng((config.seed, 1 << 20)),
                )  # fmt: skip
        self._freeze()
        super().go_on(report)

    def progress(self, loss: float) -> PairProgress:
        base = f"{self.order}@{self.place}"
        return PairProgress(self.epoch, self.config.epochs, base, loss, self.best)

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

    def _freeze(self) -> None:
        halves = (
            (self.actor.selector, self.config.selector),
            (self.actor.allocator, self.config.allocator),
        )
        for half, how in halves:
            for part in half.parameters():
                part.requires_grad_(how == LEARNED)

    def _pool(
        self, history: SiteHistory, told: Estimates, rows: slice, count: int, seed: int
    ) -> SelectorAllocatorPool:
        trace, config = history.trace.slice(rows.start, rows.stop), self.config
        windows = TraceWindows(
            trace, history.site.cluster, min(config.length, len(trace)), told.take(rows)
        )
        return SelectorAllocatorPool(
            SelectorAllocatorConfig(
                windows, self.order, self.place, config.asked, config.weights, count, seed
            )
        )
