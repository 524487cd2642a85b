"""Proximal policy optimisation on valid actions only: play, judge, improve.

    learner = Ppo(actor, critic, PpoConfig())
    for epoch in range(epochs):
        update = learner.learn(environments, episodes=8, random=np.random.default_rng(epoch))

Actor and critic are any networks that fit agents.ppo.rollout's protocol. A decision among
40 jobs costs the update 40 rows, not the 256 that a padded one would.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter

import numpy as np
import torch
from torch import nn

from dovetail.agents.ppo.config import PpoConfig
from dovetail.agents.ppo.ragged import Ragged, Singles, log_softmax, tensors
from dovetail.agents.ppo.rollout import Environments, Rollout, advantages, play
from dovetail.domain.jobs import Floats, Ints

JUDGED = 4096
"""Decisions whose values are computed together: the padded queues of all would take gigabytes."""


@dataclass(frozen=True, slots=True)
class Update:
    """What one epoch did; means over the minibatches of the last pass begun."""

    gap: float  # mean reward of an episode
    decisions: int
    passes: int  # begun
    actor_loss: float
    critic_loss: float
    entropy: float
    divergence: float
    seconds_playing: float
    seconds: float


@dataclass(frozen=True, slots=True)
class PpoBatch:
    """A rollout with what is to be learned from it."""

    decisions: Ragged
    place: Ints
    log_chance: Singles
    advantage: Floats  # normalised
    target: Floats  # of the critic


class Ppo:
    """An actor and a critic that learn from what they play."""

    def __init__(self, actor: nn.Module, critic: nn.Module, config: PpoConfig) -> None:
        self.actor, self.critic, self.config = actor, critic, config
        self.optimiser = torch.optim.Adam(
            [
                {"params": list(actor.parameters()), "lr": config.actor_rate},
                {"params": list(critic.parameters()), "lr": config.critic_rate},
            ],
            fused=True,
        )

    def learn(
        self, environments: Environments, episodes: int, random: np.random.Generator
    ) -> Update:
        """One epoch: all chance comes from `random`."""
        begin = perf_counter()
        rollout = play(environments, self.actor, episodes, random)
        played = perf_counter()
        passes, means = self._improve(self._judge(rollout), random)
        return Update(
            rollout.gap(), len(rollout.decisions), passes, *means,
            seconds_playing=played - begin, seconds=perf_counter() - begin,
        )  # fmt: skip

    def _judge(self, rollout: Rollout) -> PpoBatch:
        """How much better than the critic expected each decision turned out."""
        shape = rollout.reward.shape
        value, after = self._values(rollout.decisions), self._values(rollout.after)
        found = advantages(
            rollout.reward, rollout.done, value.reshape(shape), after,
            self.config.discount, self.config.decay,
        ).ravel()  # fmt: skip
        normal = (found - found.mean()) / (found.std() + 1e-8)
        return PpoBatch(
            rollout.decisions, rollout.place, rollout.log_chance, normal, found + value
        )  # fmt: skip

    def _values(self, decisions: Ragged) -> Floats:
        everyone = np.arange(len(decisions))
        with torch.inference_mode():
            parts = [
                self.critic(tensors(decisions.take(everyone[i : i + JUDGED]))).numpy()
                for i in range(0, len(everyone), JUDGED)
            ]
        return np.concatenate(parts).astype(np.float64)

    def _improve(
        self, lesson: PpoBatch, random: np.random.Generator
    ) -> tuple[int, tuple[float, float, float, float]]:
        """Passes over the rollout in random order, until the policy has moved far enough."""
        passes, size = 0, self.config.minibatch
        while passes < self.config.passes:
            passes += 1
            order = random.permutation(len(lesson.decisions))
            steps = [self._step(lesson, order[i : i + size]) for i in range(0, len(order), size)]
            means = np.mean(steps, axis=0)
            if means[3] > self.config.divergence:
                break
        return passes, (float(means[0]), float(means[1]), float(means[2]), float(means[3]))

    def _step(self, lesson: PpoBatch, chosen: Ints) -> tuple[float, float, float, float]:
        """One step of the optimiser: actor loss, critic loss, entropy and divergence."""
        ragged = lesson.decisions.take(chosen)
        given = tensors(ragged)
        taken = torch.from_numpy(ragged.offset[:-1] + lesson.place[chosen])
        advantage = torch.from_numpy(lesson.advantage[chosen].astype(np.float32))
        target = torch.from_numpy(lesson.target[chosen].astype(np.float32))
        before = torch.from_numpy(lesson.log_chance[chosen])

        log_chances = log_softmax(self.actor(given), given.decision, given.decisions)
        entropy = -(log_chances.exp() * log_chances).sum() / given.decisions
        moved = log_chances.index_select(0, taken) - before
        ratio = moved.exp()
        limited = ratio.clamp(1 - self.config.clip, 1 + self.config.clip)
        actor_loss = -torch.minimum(ratio * advantage, limited * advantage).mean()
        critic_loss = (self.critic(given) - target).square().mean()

        self.optimiser.zero_grad()
        (actor_loss - self.config.entropy * entropy + critic_loss).backward()
        for network in (self.actor, self.critic):
            nn.utils.clip_grad_norm_(network.parameters(), self.config.longest_step)
        self.optimiser.step()
        divergence = (ratio.detach() - 1 - moved.detach()).mean()
        return actor_loss.item(), critic_loss.item(), entropy.item(), divergence.item()
