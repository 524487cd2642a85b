"""RLTune: priorities learned by PPO against a base policy; resumable, interruptible, validated.

    learn(lesson, RltuneConfig(base="fcfs", metric="bsld"))

The first part of what is given makes the windows to learn in; replays of the rest, in which all who
wait count, choose the best network. The folder holds that (a checkpoint), `training.pt` to go on
from, and `logs` for TensorBoard.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import torch
from numpy.typing import NDArray

from dovetail.agents.choice.cells import SiteHistory
from dovetail.agents.history import facts
from dovetail.agents.learner_replays import LearnerReplays, open_replays
from dovetail.agents.ppo.learner import Ppo
from dovetail.agents.ppo.networks import KernelActor, QueueCritic
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

KIND = "rltune"


@dataclass(frozen=True, slots=True)
class RltuneProgress:
    """One epoch; above 0 is better."""

    epoch: int
    epochs: int
    gap: float  # of sampled actions, in training, as a share of the base policy's score
    validation: float  # of the best network so far, against the choice

    def __str__(self) -> str:
        word = "better" if self.validation >= 0 else "worse"
        return (
            f"epoch {self.epoch}/{self.epochs}: {abs(self.validation):.1%} {word} than the choice"
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
        **facts(KIND, config, [history.site]), "estimates": lesson.choice.estimates,
    }  # fmt: skip
    told = lesson.choice.estimates
    with (
        open_replays(lesson, history, config, KIND, told) as replays,
        one_thread(),
        closing(_RltuneRun(lesson, history, config, about, replays)) as run,
    ):
        run.go_on(lesson.report)
    return load_checkpoint(lesson.folder)


class _RltuneRun(PpoRun[RltuneProgress]):
    """A kernel network that learns which job goes next."""

    kind = KIND

    def __init__(
        self,
        lesson: Lesson,
        history: SiteHistory,
        config: RltuneConfig,
        facts: dict[str, Any],
        replays: LearnerReplays,
    ) -> None:
        super().__init__(lesson.folder, config, facts, lesson.choice.estimates)
        self.config, self.replays = config, replays
        self.selection = SELECTIONS[config.features]
        cluster = history.site.cluster
        told = ReplayCell(history.trace, cluster, history.forecast, 0, config.seed).told(
            self.estimates
        )
        windows = _windows(history, told, config)
        count = config.environments
        self.environments = QueuePriorityVector(
            count, pool=Pool(windows), threads=min(lesson.workers, count), copy=False
        )
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(config.seed)
            self.actor = KernelActor(self.selection.width)
            critic = QueueCritic(SHOWN, windows.observation.critic_width)
        rule = STARTS[config.start](self.selection, cluster.total_gpus, config.temperature)
        if rule is not None:
            self.actor.follow(rule)
        self.learner = Ppo(self.actor, critic, config.ppo)

    def measure(self) -> float:
        return self.replays.gap(self.arrays())

    def progress(self, loss: float) -> RltuneProgress:
        return RltuneProgress(self.epoch, self.config.epochs, loss, self.best)

    def arrays(self) -> Mapping[str, NDArray[Any]]:
        return self.actor.arrays(self.selection)


def _windows(history: SiteHistory, told: Estimates, config: RltuneConfig) -> QueuePriorityConfig:
    rows = slice(0, history.learning)
    trace = history.trace.slice(rows.start, rows.stop)
    length = min(config.length, len(trace))
    return QueuePriorityConfig(
        TraceWindows(trace, history.site.cluster, length, told.take(rows)),
        order=config.base,
        metric=config.metric,
        dense=config.dense,
        observation=OBSERVATIONS[config.features],
        pool=config.windows,
        seed=config.seed,
    )
