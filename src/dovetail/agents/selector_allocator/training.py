"""A selector and an allocator that learn together by PPO, with one critic for both.

    dovetail train --agent selector-allocator --trace history.parquet --cluster cluster.toml
    dovetail train --agent selector-allocator --set selector=saf …    # the allocator alone

Both begin as the base pair: the ordering and the placement that were chosen, or those named in the
place of a half. A search over replays improves their linear parts, PPO the networks. The first
part of what is given is learned from; replays of the rest choose the best networks, and whether the
pair, the selector or the allocator alone, or what they began as is handed to the gate.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from dovetail.agents.choice.candidates import PolicyCandidate, usual
from dovetail.agents.choice.cells import SiteHistory
from dovetail.agents.history import facts
from dovetail.agents.learner_replays import LearnerReplays, open_replays
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
from dovetail.agents.selector_allocator.starts import ALLOCATOR_SCALE, SELECTOR_SCALE, begin_as
from dovetail.agents.training import Lesson
from dovetail.agents.warm_cells import warm_cells
from dovetail.domain.errors import ConfigError
from dovetail.domain.estimates import Estimates
from dovetail.envs.selector_allocator.config import SelectorAllocatorConfig
from dovetail.envs.selector_allocator.pool import SelectorAllocatorPool
from dovetail.envs.selector_allocator.vector import SelectorAllocatorVector
from dovetail.envs.windows import TraceWindows
from dovetail.policies.learned.checkpoint import Checkpoint, load_checkpoint

KIND = "selector-allocator"

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
    base = base_of(lesson.choice, config)
    about = {**facts(KIND, config, [history.site]), "estimates": base.estimates}
    with pair_replays(lesson, history, config) as replays, one_thread():
        with closing(_PairRun(lesson, history, config, about, replays)) as run:
            run.go_on(lesson.report)
        return best_halves(load_checkpoint(lesson.folder), base, replays)


def base_of(choice: PolicyCandidate, config: SelectorAllocatorSettings) -> PolicyCandidate:
    """What the agents begin as: the choice, or the heuristics named in the place of a half.

    Estimates were chosen together with an order. Another order goes by the usual ones: on a drawn
    history FCFS waits 5.8 times as long by the estimates that were chosen for SAF.
    """
    networks = (LEARNED, FROZEN)
    order = choice.order if config.selector in networks else config.selector
    place = choice.placement if config.allocator in networks else config.allocator
    told = choice.estimates if order == choice.order else usual(choice.estimates)
    return PolicyCandidate(order, told, place)


def pair_replays(
    lesson: Lesson, history: SiteHistory, config: SelectorAllocatorSettings
) -> AbstractContextManager[LearnerReplays]:
    """To search on, if there is a search, and to validate on."""
    random = np.random.default_rng((config.seed, 1 << 21))
    count = config.replays if config.search_epochs > 0 else 0
    drawn = warm_cells(history, lesson.choice, count, config.replay_length, random)
    estimates = base_of(lesson.choice, config).estimates
    return open_replays(lesson, history, config, KIND, estimates, drawn)


class _PairRun(PpoRun[PairProgress]):
    """Two heads, one critic, and windows in which the base pair's jobs wait."""

    kind = KIND

    def __init__(
        self,
        lesson: Lesson,
        history: SiteHistory,
        config: SelectorAllocatorSettings,
        facts: dict[str, Any],
        replays: LearnerReplays,
    ) -> None:
        self.base = base_of(lesson.choice, config)
        super().__init__(lesson.folder, config, facts, self.base.estimates)
        self.config, self.replays = config, replays
        cluster = history.site.cluster
        told = ReplayCell(history.trace, cluster, history.forecast, 0, config.seed).told(
            self.base.estimates
        )
        pool = self._pool(history, told)
        self.environments = SelectorAllocatorVector(config.environments, pool=pool, copy=False)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(config.seed)
            self.actor, critic = PairActor(), PairCritic()
        base, gpus = self.base, cluster.total_gpus
        self.rough = begin_as(self.actor, base.order, base.placement, gpus) & set(config.asked)
        self.learner = Ppo(self.actor, critic, config.ppo)

    def go_on(self, report: Any) -> None:
        """Imitate and search first, unless an earlier training is gone on with."""
        if not (self.folder / STATE_FILE).exists():
            config = self.config
            if self.rough:
                # A half that is what it is to begin as stays so: best-fit under FCFS lost that.
                self._let_learn(getattr(self.actor, name) for name in self.rough)
                imitate(
                    self.actor, self.environments, config.imitated, config.imitation_passes,
                    np.random.default_rng((config.seed, 1 << 20)),
                )  # fmt: skip
            if config.search_epochs > 0:
                parts = LinearParts([(half.skip, scale) for half, scale in self._learners()])
                LinearSearch(
                    self.folder, self.facts, parts, self.arrays, self.replays, config
                ).run()
        self._let_learn(half for half, _ in self._learners())
        super().go_on(report)

    def measure(self) -> float:
        return self.replays.gap(self.arrays())

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
            found["order"] = np.array(self.base.order)
        if "allocator" not in self.config.asked:
            found["placement"] = np.array(self.base.placement)
        return found

    def _learners(self) -> list[tuple[Any, float]]:
        """The networks that learn, and the scales of their linear parts."""
        halves = (
            (self.actor.selector, SELECTOR_SCALE, self.config.selector),
            (self.actor.allocator, ALLOCATOR_SCALE, self.config.allocator),
        )
        return [(half, scale) for half, scale, how in halves if how == LEARNED]

    def _let_learn(self, halves: Iterable[nn.Module]) -> None:
        """These networks, and no other."""
        self.actor.requires_grad_(False)
        for half in halves:
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
                self.base.order,
                self.base.placement,
                config.asked,
                config.weights,
                config.windows,
                config.seed,
                CONGESTED,
            )
        )
