"""RLTune: priorities learned by PPO against a base policy; resumable, interruptible, validated.

    learn(lesson, RltuneConfig(base="fcfs", metric="bsld"))

The first part of what is given makes the windows to learn in, the rest those by which the best
network is chosen. The folder holds the best network (a checkpoint), `training.pt` to go
on from, and `logs` for TensorBoard.
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
from dovetail.agents.ppo.networks import KernelActor, QueueCritic
from dovetail.agents.ppo.rollout import play_best
from dovetail.agents.ppo.run import PpoRun, one_thread
from dovetail.agents.replays import ReplayCell
from dovetail.agents.rltune.config import RltuneConfig
from dovetail.agents.rltune.starts import STARTS
from dovetail.agents.training import Lesson
from dovetail.domain.errors import ConfigError
from dovetail.domain.estimates import Estimates
from dovetail.envs import Pool, QueuePriorityConfig, QueuePriorityVector, TraceWindows
from dovetail.envs.observation import OBSERVATIONS
from dovetail.envs.visible_jobs import SHOWN
from dovetail.policies.learned.checkpoint import Checkpoint, load_checkpoint
from dovetail.policies.selections import SELECTIONS


@dataclass(frozen=True, slots=True)
class RltuneProgress:
    """One epoch; gaps are shares of the base policy's score, above 0 is better."""

    epoch: int
    epochs: int
    base: str
    gap: float  # of sampled actions, in training
    validation: float  # of the best network so far

    def __str__(self) -> str:
        word = "better" if self.validation >= 0 else "worse"
        return (
            f"epoch {self.epoch}/{self.epochs}: {abs(self.validation):.1%} {word} than {self.base}"
        )


def learn(lesson: Lesson, config: RltuneConfig) -> Checkpoint:
    """The best network on validation; goes on where an earlier call stopped.

    Workers are threads that step environments; any number finds the same.
    """
    if len(lesson.histories) != 1:
        raise ConfigError(
            f"rltune learns from one history at a time, not from {len(lesson.histories)}; "
            "the agent evolution learns from several"
        )
    (history,) = lesson.histories
    about = {
        **facts("rltune", config, [history.site]), "estimates": lesson.choice.estimates,
    }  # fmt: skip
    run = _RltuneRun(lesson, history, config, about)
    with one_thread(), closing(run):
        run.go_on(lesson.report)
    return load_checkpoint(lesson.folder)


class _RltuneRun(PpoRun[RltuneProgress]):
    """A kernel network that learns which job goes next."""

    kind = "rltune"

    def __init__(
        self, lesson: Lesson, history: SiteHistory, config: RltuneConfig, facts: dict[str, Any]
    ) -> None:
        super().__init__(lesson.folder, config, facts, lesson.choice.estimates)
        self.config = config
        self.selection = SELECTIONS[config.features]
        cluster, known = history.site.cluster, len(history.trace)
        told = ReplayCell(history.trace, cluster, history.forecast, 0, config.seed).told(
            self.estimates
        )
        learning, validation = slice(0, history.learning), slice(history.learning, known)
        pool = Pool(_windows(history, told, learning, config, config.windows, config.seed))
        count = config.environments
        self.environments = QueuePriorityVector(
            count, pool=pool, threads=min(lesson.workers, count), copy=False
        )
        unseen = _windows(
            history, told, validation, config, config.validation_windows, config.seed + 1
        )
        self.validation = QueuePriorityVector(
            config.validation_windows, pool=Pool(unseen), copy=False
        )
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(config.seed)
            self.actor = KernelActor(self.selection.width)
            critic = QueueCritic(SHOWN, unseen.observation.critic_width)
        rule = STARTS[config.start](self.selection, cluster.total_gpus, config.temperature)
        if rule is not None:
            self.actor.follow(rule)
        self.learner = Ppo(self.actor, critic, config.ppo)

    def measure(self) -> float:
        every_window = np.arange(self.validation.num_envs)
        seen, _ = self.validation.reset(options={"window": every_window})
        return float(play_best(self.validation, self.actor, seen).mean())

    def close(self) -> None:
        super().close()
        self.validation.close()

    def progress(self, loss: float) -> RltuneProgress:
        config = self.config
        return RltuneProgress(self.epoch, config.epochs, config.base, loss, self.best)

    def arrays(self) -> Mapping[str, NDArray[Any]]:
        return self.actor.arrays(self.selection)


def _windows(
    history: SiteHistory, told: Estimates, rows: slice, config: RltuneConfig, count: int, seed: int
) -> QueuePriorityConfig:
    trace = history.trace.slice(rows.start, rows.stop)
    length = min(config.length, len(trace))
    return QueuePriorityConfig(
        TraceWindows(trace, history.site.cluster, length, told.take(rows)),
        order=config.base,
        metric=config.metric,
        dense=config.dense,
        observation=OBSERVATIONS[config.features],
        pool=count,
        seed=seed,
    )
