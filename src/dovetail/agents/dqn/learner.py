"""Deep Q-learning on one page: act, remember, learn; never an action that the mask rules out.

After every step of all environments a few batches are drawn from memory. The value of a decision
is pulled towards the rewards of a few steps plus the value of the best valid decision that follows,
discounted by the time in between. Rewards count against what is usual in that time: else values are
large, and to put all costs off by waiting looks like a gain.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor, nn

from dovetail.agents.dqn.config import DqnConfig
from dovetail.agents.dqn.replay import Remembered, ReplayMemory
from dovetail.domain.jobs import Bools, Floats, Ints
from dovetail.envs.batch import Seen

NEVER = -1e9
"""The value of an action that is not valid."""

LONGEST_STEP = 10.0
"""Of the gradient: a single odd batch must not undo a minute's learning."""


class Steps(Protocol):
    """What the learner needs of a batch of environments (see GpuAssignmentBatch)."""

    count: int
    seen: Seen
    rewards: Floats
    elapsed: Floats
    dones: Bools

    def follow(self, environment: int, random: np.random.Generator) -> None: ...
    def begin(self) -> None: ...
    def step(self, actions: Ints) -> None: ...


class DqnProgress(NamedTuple):
    """How far it is."""

    steps: int
    of: int
    exploration: float
    loss: float


class DqnLearner:
    """Trains a network that maps what is seen to a value for every action."""

    def __init__(
        self, network: Callable[[], nn.Module], steps: Steps, config: DqnConfig,
        guide: Callable[[], Ints],
    ) -> None:  # fmt: skip
        torch.manual_seed(config.seed)
        self.config, self.steps, self.guide = config, steps, guide
        self.online, self.target = network(), network()
        self.target.load_state_dict(self.online.state_dict())
        self._optimiser = torch.optim.Adam(self._groups(), config.learning_rate)
        self._random = np.random.default_rng(config.seed)
        self.inputs: tuple[str, ...] = self.online.inputs  # type: ignore[assignment]
        self._loss, self._rewards, self._seconds = 0.0, 0.0, 1.0

    def train(self, report: Callable[[DqnProgress], None] = lambda progress: None) -> nn.Module:
        """Until all steps are done."""
        config, steps = self.config, self.steps
        for environment in range(steps.count):
            steps.follow(environment, self._random)
        steps.begin()
        self._memory = self._new_memory()
        turns = max(1, config.steps // steps.count)
        for turn in range(turns):
            share = turn / turns
            exploration = self._exploration(share)
            seen = {name: steps.seen[name].copy() for name in self.inputs}
            actions = self._act(seen, exploration)
            for environment in range(steps.count):
                steps.follow(environment, self._random)
            steps.step(actions)
            self._rewards += float(steps.rewards.sum())
            self._seconds += float(steps.elapsed.sum())
            self._memory.add(seen, actions, steps.rewards, steps.elapsed, steps.dones)
            if (turn + 1) * steps.count >= config.warm_up:
                self._learn(share)
            if turn % 20 == 19:
                report(DqnProgress((turn + 1) * steps.count, config.steps, exploration, self._loss))
        return self.online

    def _groups(self) -> list[dict[str, Any]]:
        """The value of a situation, which may have to settle first, and all else."""
        named = list(self.online.named_parameters())
        value = [part for name, part in named if name.startswith("value.")]
        others = [part for name, part in named if not name.startswith("value.")]
        return [{"params": value}, {"params": others}]

    def _new_memory(self) -> ReplayMemory:
        config, seen = self.config, self.steps.seen
        shown = {name: seen[name] for name in self.inputs}
        return ReplayMemory(shown, config.memory, config.returns, config.horizon, config.seed)

    def _exploration(self, share: float) -> float:
        fallen = min(1.0, share / max(self.config.explored, 1e-9))
        first, last = self.config.exploration, self.config.last_exploration
        return first + (last - first) * fallen

    def _act(self, seen: Seen, exploration: float) -> Ints:
        """Greedy; explored decisions are drawn among valid actions, or taken by the guide."""
        actions = greedy(self.online, seen)
        explored = np.flatnonzero(self._random.random(len(actions)) < exploration)
        if len(explored) == 0:
            return actions
        guided = explored[self._random.random(len(explored)) < self.config.guided]
        chance = self._random.random(seen["mask"].shape) * seen["mask"]
        actions[explored] = chance[explored].argmax(axis=1)
        if len(guided):
            actions[guided] = self.guide()[guided]
        return actions

    def _learn(self, share: float) -> None:
        config = self.config
        rate = config.learning_rate + (config.last_rate - config.learning_rate) * share
        value, others = self._optimiser.param_groups
        value["lr"], others["lr"] = rate, 0.0 if share < config.settling else rate
        for _ in range(config.updates):
            if config.prioritised:
                batch = self._memory.draw_by_error(config.batch)
            else:
                batch = self._memory.draw(config.batch)
            errors = self._update(batch)
            if config.prioritised:
                self._memory.rate(batch.rows, errors)

    def _update(self, batch: Remembered) -> Floats:
        values = self.online(_tensors(batch.seen))
        chosen = values.gather(1, torch.from_numpy(batch.actions)[:, None])[:, 0]
        wanted = self._targets(batch)
        loss = nn.functional.smooth_l1_loss(chosen, wanted, reduction="none")
        mean = (loss * torch.from_numpy(batch.weights).float()).mean()
        self._optimiser.zero_grad()
        mean.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self.online.parameters(), LONGEST_STEP)
        self._optimiser.step()
        with torch.no_grad():
            for slow, fast in zip(self.target.parameters(), self.online.parameters(), strict=True):
                slow.lerp_(fast, self.config.tracking)
        self._loss = float(mean.detach())
        return (chosen - wanted).detach().numpy().astype(np.float64)

    @torch.no_grad()
    def _targets(self, batch: Remembered) -> Tensor:
        after = _tensors(batch.after)
        mask = after["mask"] > 0
        values = self.target(after).masked_fill(~mask, NEVER)
        if self.config.double:
            best = self.online(after).masked_fill(~mask, NEVER).argmax(dim=1, keepdim=True)
            following = values.gather(1, best)[:, 0]
        else:
            following = values.max(dim=1).values
        usual = self._rewards / self._seconds
        rewards = torch.from_numpy(batch.rewards - usual * batch.seconds).float()
        return rewards / self.config.scale + torch.from_numpy(batch.discount).float() * following


@torch.no_grad()
def greedy(network: nn.Module, seen: Seen) -> Ints:
    """The best valid action for each environment."""
    parts = _tensors(seen)
    values = network(parts).masked_fill(parts["mask"] <= 0, NEVER)
    best: Ints = values.argmax(dim=1).numpy()
    return best


def _tensors(seen: Seen) -> dict[str, Tensor]:
    return {name: torch.from_numpy(np.ascontiguousarray(part, np.float32))
            for name, part in seen.items()}  # fmt: skip
