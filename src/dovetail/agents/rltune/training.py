"""RLTune: priorities learned by PPO against a base policy; resumable, interruptible, validated.

    learn(lesson, RltuneConfig(base="fcfs", metric="bsld"))

The first eight ninths of what is known make the windows to learn in, the last ninth those by which
the best network is chosen. The folder holds the best network (a checkpoint), `training.pt` to go
on from, and `logs` for TensorBoard.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch.utils.tensorboard import SummaryWriter

from dovetail.agents.choice.cells import SiteHistory
from dovetail.agents.history import facts, refuse_other
from dovetail.agents.ppo.learner import Ppo, Update
from dovetail.agents.ppo.networks import KernelActor, QueueCritic
from dovetail.agents.ppo.rollout import play_best
from dovetail.agents.replays import ReplayCell
from dovetail.agents.rltune.config import RltuneConfig
from dovetail.agents.rltune.starts import STARTS
from dovetail.agents.training import Lesson
from dovetail.agents.training_run import TrainingRun
from dovetail.domain.errors import ConfigError
from dovetail.domain.estimates import Estimates
from dovetail.domain.output import replacing
from dovetail.envs import Pool, QueuePriorityConfig, QueuePriorityVector, TraceWindows
from dovetail.envs.observation import OBSERVATIONS
from dovetail.envs.visible_jobs import SHOWN
from dovetail.policies.learned.checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from dovetail.policies.selections import SELECTIONS

STATE_FILE, LOGS = "training.pt", "logs"


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
    with _one_thread(), closing(run):
        run.go_on(lesson.report)
    return load_checkpoint(lesson.folder)


class _RltuneRun(TrainingRun[RltuneProgress]):
    """A learner, the best network so far, and what TensorBoard shows of them."""

    def __init__(
        self, lesson: Lesson, history: SiteHistory, config: RltuneConfig, facts: dict[str, Any]
    ) -> None:
        super().__init__(lesson.folder, config, facts)
        self.config, self.estimates = config, lesson.choice.estimates
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
        self.best = -math.inf
        self.logs: SummaryWriter | None = None

    def resume(self) -> bool:
        path = self.folder / STATE_FILE
        if not path.exists():
            return False
        try:
            found = torch.load(path, weights_only=True)
            about = json.loads(found["about"])
        except (OSError, RuntimeError, KeyError, ValueError) as problem:
            raise ConfigError(f"{path}: not a readable training: {problem}") from problem
        refuse_other(self.folder, about["facts"], self.facts)
        for name, part in self._parts().items():
            part.load_state_dict(found[name])
        self.epoch, self.best, self.stale = about["epoch"], about["best"], about["stale"]
        return True

    def save(self) -> None:
        about = {"facts": self.facts, "epoch": self.epoch, "best": self.best, "stale": self.stale}
        states = {name: part.state_dict() for name, part in self._parts().items()}
        with replacing(self.folder / STATE_FILE) as path:
            torch.save({"about": json.dumps(about), **states}, path)

    def learn(self) -> float:
        # Not before the first epoch: what was logged after the last saved one is dropped.
        self.logs = self.logs or SummaryWriter(str(self.folder / LOGS), purge_step=self.epoch + 1)
        random = np.random.default_rng((self.config.seed, self.epoch))
        update = self.learner.learn(self.environments, self.config.episodes_per_epoch, random)
        self._log(update)
        return update.gap

    def progress(self, loss: float) -> RltuneProgress:
        config = self.config
        return RltuneProgress(self.epoch, config.epochs, config.base, loss, self.best)

    def keep_if_best(self) -> bool:
        every_window = np.arange(self.validation.num_envs)
        seen, _ = self.validation.reset(options={"window": every_window})
        gap = float(play_best(self.validation, self.actor, seen).mean())
        if self.logs is not None:
            self.logs.add_scalar("gap/validation", gap, self.epoch)
        if gap <= self.best:
            return False
        self.best = gap
        card = {**self.facts, "epoch": self.epoch, "validation_gap": gap}
        arrays = self.actor.arrays(self.selection)
        save_checkpoint(self.folder, Checkpoint("rltune", arrays, card, self.estimates))
        return True

    def close(self) -> None:
        self.environments.close()
        self.validation.close()
        if self.logs is not None:
            self.logs.close()

    def _parts(self) -> dict[str, Any]:
        learner = self.learner
        return {"actor": learner.actor, "critic": learner.critic, "optimiser": learner.optimiser}

    def _log(self, update: Update) -> None:
        if self.logs is None:
            return
        for name, value in (
            ("gap/training", update.gap),
            ("loss/actor", update.actor_loss),
            ("loss/critic", update.critic_loss),
            ("policy/entropy", update.entropy),
            ("policy/divergence", update.divergence),
            ("speed/decisions per second", update.decisions / update.seconds),
        ):
            self.logs.add_scalar(name, value, self.epoch + 1)


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


@contextmanager
def _one_thread() -> Iterator[None]:
    """Layers of 32 units are too small to share out, and sums keep their order."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
