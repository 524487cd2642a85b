"""A training by PPO: an actor and a critic, environments to learn in and others to validate in.

The folder holds the best network (a checkpoint), `training.pt` to go on from, and `logs` for
TensorBoard.
"""

from __future__ import annotations

import json
import math
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch.utils.tensorboard import SummaryWriter

from dovetail.agents.history import refuse_other
from dovetail.agents.ppo.learner import Ppo, Update
from dovetail.agents.ppo.rollout import Environments
from dovetail.agents.training_run import TrainingProgress, TrainingRun, TrainingSchedule
from dovetail.domain.errors import ConfigError
from dovetail.domain.output import replacing
from dovetail.policies.learned.checkpoint import Checkpoint, save_checkpoint

STATE_FILE, LOGS = "training.pt", "logs"


class PpoSettings(TrainingSchedule, Protocol):
    """What the configuration of every agent that learns by PPO has."""

    @property
    def episodes_per_epoch(self) -> int: ...
    @property
    def seed(self) -> int: ...


P = TypeVar("P", bound=TrainingProgress)


class PpoRun(TrainingRun[P]):
    """A learner, the best network so far, and what TensorBoard shows of them."""

    kind: str  # of the checkpoint
    learner: Ppo
    environments: Environments

    def __init__(
        self, folder: Path, settings: PpoSettings, facts: dict[str, Any], estimates: str
    ) -> None:
        super().__init__(folder, settings, facts)
        self.settings, self.estimates = settings, estimates
        self.best = -math.inf
        self.logs: SummaryWriter | None = None

    @abstractmethod
    def arrays(self) -> Mapping[str, NDArray[Any]]:
        """The actor as a checkpoint holds it."""

    @abstractmethod
    def measure(self) -> float:
        """How good the actor is on jobs that it never learned from; higher is better."""

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
        random = np.random.default_rng((self.settings.seed, self.epoch))
        update = self.learner.learn(self.environments, self.settings.episodes_per_epoch, random)
        self._log(update)
        return update.gap

    def keep_if_best(self) -> bool:
        gap = self.measure()
        if self.logs is not None:
            self.logs.add_scalar("gap/validation", gap, self.epoch)
        if gap <= self.best:
            return False
        self.best = gap
        card = {**self.facts, "epoch": self.epoch, "validation_gap": gap}
        save_checkpoint(self.folder, Checkpoint(self.kind, self.arrays(), card, self.estimates))
        return True

    def close(self) -> None:
        self.environments.close()
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


@contextmanager
def one_thread() -> Iterator[None]:
    """Layers of 32 units are too small to share out, and sums keep their order."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
