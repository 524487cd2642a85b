"""The published way to learn repartitioning: PPO over the logits of the mean-field matrix.

    train_published(PublishedTraining(), Path("model"), report=print)

A network sees distributions only and writes one logit for each pair of ways; exploration adds
Gaussian noise to the logits, and every GPU draws its next way from the matrix. The reward is
minus the growth of ET. It begins as a cluster whose GPUs mostly stay as they are.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from dovetail.agents.ppo.rollout import advantages
from dovetail.domain.jobs import Bools, Floats
from dovetail.mig.agents.control_config import ControlTraining, balanced_weight, costs
from dovetail.mig.envs.config import MigRepartitionConfig
from dovetail.mig.envs.days import GivenDays
from dovetail.mig.envs.repartition import MigRepartitionVector
from dovetail.mig.gpus.cluster import MigCluster
from dovetail.mig.policies.learned.control import (
    CONTROL_MODELS,
    STATIC_PLACER,
    MigPolicy,
    load_control,
)
from dovetail.mig.simulator import MigRules
from dovetail.mig.simulator.day_runner import DayRunner
from dovetail.policies.learned.checkpoint import Checkpoint, save_checkpoint


@dataclass(frozen=True, slots=True)
class PublishedTraining:
    """How long and on what to train; stored with the checkpoint."""

    on: ControlTraining = field(default_factory=ControlTraining)
    updates: int = 150
    environments: int = 16
    steps: int = 256  # of each environment between two updates
    hidden: int = 64
    stay: float = 3.0  # the first logit of staying
    noise: float = -0.7  # the first logarithm of the deviation of logits
    rate: float = 3e-4
    passes: int = 6
    minibatch: int = 1024
    clip: float = 0.2
    discount: float = 0.998  # a decision is felt for some hundred events
    decay: float = 0.95
    validate_every: int = 10


class MatrixActorCritic(nn.Module):
    """Actor and critic; the actor's outputs are the means of the logits."""

    def __init__(self, width: int, ways: int, config: PublishedTraining) -> None:
        super().__init__()
        hidden = config.hidden
        self.actor = nn.Sequential(
            nn.Linear(width, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh(),
            nn.Linear(hidden, ways * ways),
        )  # fmt: skip
        self.critic = nn.Sequential(
            nn.Linear(width, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh(),
            nn.Linear(hidden, 1),
        )  # fmt: skip
        self.deviation = nn.Parameter(torch.full((ways * ways,), config.noise))
        with torch.no_grad():
            last = list(self.actor.parameters())
            last[-2].mul_(0.1)
            last[-1].copy_(config.stay * torch.eye(ways).flatten())

    def draw(self, seen: torch.Tensor) -> torch.Tensor:
        """Logits, with noise."""
        mean: torch.Tensor = self.actor(seen)
        return mean + self.deviation.exp() * torch.randn_like(mean)

    def log_density(self, seen: torch.Tensor, logits: torch.Tensor) -> torch.Tensor:
        """Of logits that were drawn, but for a constant."""
        off = (logits - self.actor(seen)) / self.deviation.exp()
        return -(0.5 * off.square() + self.deviation).sum(1)

    def arrays(self) -> dict[str, Floats]:
        """The actor's layers; no torch is needed to use them."""
        found = {}
        for number, layer in enumerate(part for part in self.actor if isinstance(part, nn.Linear)):
            found[f"weights{number}"] = np.ascontiguousarray(
                layer.weight.detach().numpy().T.astype(np.float64)
            )
            found[f"biases{number}"] = layer.bias.detach().numpy().astype(np.float64)
        return found


@dataclass(frozen=True, slots=True)
class Played:
    """What happened between two updates; [steps, environments, ...]."""

    seen: torch.Tensor
    logits: torch.Tensor
    chance: torch.Tensor  # logarithm of the density
    reward: Floats
    done: Bools
    value: Floats
    after: Floats  # [environments] value of what came next


def train_published(
    config: PublishedTraining, folder: Path, report: Callable[[str], None] = lambda text: None
) -> Checkpoint:
    """Train; every better controller is saved at once, so that Ctrl-C keeps the best so far."""
    torch.manual_seed(config.on.seed)
    trainer = _Trainer(config, folder)
    for update in range(config.updates + 1):
        if update > 0:
            trainer.improve(trainer.play())
        if update % config.validate_every == 0:
            trainer.validate(update)
            report(f"update {update}/{config.updates}: ET {trainer.best - 1:+.1%}")
    trainer.save()  # the card tells how long all of it took
    return load_control(folder)[1]


class _Trainer:
    def __init__(self, config: PublishedTraining, folder: Path) -> None:
        self.config, self.folder, self.began = config, folder, time.process_time()
        on, cluster = config.on, MigCluster.parse(config.on.cluster)
        days = on.learning_days()
        with DayRunner(cluster, days, MigRules()) as runner:
            static = runner.play(STATIC_PLACER, None)
        self.weight = balanced_weight(static)
        self.choosing = DayRunner(cluster, on.choosing_days(), MigRules())
        self.static = costs(self.choosing.play(STATIC_PLACER, None), self.weight)
        self.envs = MigRepartitionVector(
            config.environments,
            MigRepartitionConfig(
                GivenDays(tuple(days)), cluster, STATIC_PLACER, every=on.every,
                most_likely=on.most_likely, energy_weight=self.weight,
            ),
        )  # fmt: skip
        # Rewards near 1: a day costs about ET, in two decisions for each five jobs.
        self.unit = float(costs(static, self.weight).mean()) / (2 * len(days[0]) / on.every)
        self.seen = torch.from_numpy(self.envs.reset(seed=on.seed)[0])
        self.net = MatrixActorCritic(self.seen.shape[1], self.envs.batch.ways, config)
        self.optimiser = torch.optim.Adam(self.net.parameters(), config.rate)
        self.best, self.best_update = np.inf, 0
        self.kept: dict[str, Floats] = {}

    def play(self) -> Played:
        """Some steps of all environments."""
        parts: list[tuple[Any, ...]] = []
        count, ways = self.config.environments, self.envs.batch.ways
        with torch.inference_mode():
            for _ in range(self.config.steps):
                logits = self.net.draw(self.seen)
                value = self.net.critic(self.seen).squeeze(1).numpy().astype(np.float64)
                found, reward, done, _, _ = self.envs.step(logits.view(count, ways, ways).numpy())
                chance = self.net.log_density(self.seen, logits)
                parts.append((self.seen, logits, chance, reward / self.unit, done, value))
                self.seen = torch.from_numpy(found)
            after = self.net.critic(self.seen).squeeze(1).numpy().astype(np.float64)
        seen, logits_, chances, rewards, dones, values = zip(*parts, strict=True)
        return Played(
            torch.stack(seen), torch.stack(logits_), torch.stack(chances),
            np.array(rewards), np.array(dones), np.array(values), after,
        )  # fmt: skip

    def improve(self, played: Played) -> None:
        """Passes over what was played, in random order."""
        config = self.config
        gain = advantages(
            played.reward, played.done, played.value, played.after, config.discount, config.decay
        )
        target = torch.from_numpy((gain + played.value).ravel()).float()
        normal = torch.from_numpy(((gain - gain.mean()) / (gain.std() + 1e-8)).ravel()).float()
        seen, logits = played.seen.flatten(0, 1).clone(), played.logits.flatten(0, 1).clone()
        before = played.chance.flatten().clone()
        for _ in range(config.passes):
            order = torch.randperm(len(seen))
            for first in range(0, len(seen), config.minibatch):
                rows = order[first : first + config.minibatch]
                ratio = (self.net.log_density(seen[rows], logits[rows]) - before[rows]).exp()
                limited = ratio.clamp(1 - config.clip, 1 + config.clip)
                worth = torch.minimum(ratio * normal[rows], limited * normal[rows]).mean()
                error = (self.net.critic(seen[rows]).squeeze(1) - target[rows]).square().mean()
                self.optimiser.zero_grad()
                (0.1 * error - worth).backward()
                nn.utils.clip_grad_norm_(self.net.parameters(), 0.5)
                self.optimiser.step()

    def validate(self, update: int) -> None:
        """Keep the network that is the best on days that it did not learn from."""
        on = self.config.on
        asked = np.array([on.every, on.most_likely], np.float64)
        arrays = {"asked": asked, **self.net.arrays()}
        policy: MigPolicy = CONTROL_MODELS["mig-published"](arrays, "candidate")
        scores = self.choosing.play(policy.placer, policy.field)
        cost = float(costs(scores, self.weight).sum() / self.static.sum())
        if cost < self.best:
            self.best, self.best_update, self.kept = cost, update, arrays
            self.save()

    def save(self) -> None:
        """Write the best network so far."""
        card = {
            "config": asdict(self.config),
            "update": self.best_update,
            "energy_weight": self.weight,
            "validation_et_of_static": self.best,
            "cpu_seconds": round(time.process_time() - self.began, 1),
        }
        checkpoint = Checkpoint("mig-published", self.kept, card)
        save_checkpoint(self.folder, checkpoint, CONTROL_MODELS, "--control FOLDER")
