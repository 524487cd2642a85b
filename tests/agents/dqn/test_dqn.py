"""Deep Q-learning: returns over several steps are exact, and a small task is learned."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dovetail.agents.dqn.replay import ReplayMemory
from dovetail.domain.jobs import Bools, Floats, Ints
from dovetail.envs.batch import Seen

torch = pytest.importorskip("torch")

from torch import Tensor, nn  # noqa: E402

from dovetail.agents.dqn.config import DqnConfig  # noqa: E402
from dovetail.agents.dqn.learner import DqnLearner, greedy  # noqa: E402

HORIZON = 7.0


@pytest.mark.parametrize("length", [12, 40])
def test_returns_over_several_steps_are_what_was_paid_discounted(length: int) -> None:
    """Against a plain sum; the ring is overwritten in the first case."""
    random = np.random.default_rng(length)
    memory = ReplayMemory({"at": np.zeros((2, 1), np.float32)}, 2 * length, 3, HORIZON, 0)
    rows = []
    for step in range(30):
        seen = {"at": np.full((2, 1), step, np.float32)}
        rewards, elapsed = random.random(2), random.random(2)
        ended = random.random(2) < 0.2
        memory.add(seen, np.array([step, step]), rewards, elapsed, ended)
        rows.append((rewards, elapsed, ended))
    drawn = memory.draw(200)
    environments = drawn.rows % 2
    for i, (step, e) in enumerate(zip(drawn.actions.tolist(), environments, strict=True)):
        paid, discount = 0.0, 1.0
        for rewards, elapsed, ended in rows[step : step + 3]:
            paid += discount * rewards[e]
            discount *= 0.0 if ended[e] else math.exp(-elapsed[e] / HORIZON)
        assert drawn.rewards[i] == pytest.approx(paid)
        assert drawn.discount[i] == pytest.approx(discount)
        assert discount == 0.0 or drawn.after["at"][i, 0] == step + 3


class Corridor:
    """Three rooms; to go on (1) costs at once, only the end pays. To stay (0) costs a little."""

    def __init__(self, count: int) -> None:
        self.count, self.room = count, np.zeros(count, np.int64)
        self.rewards: Floats = np.zeros(count)
        self.elapsed: Floats = np.ones(count)
        self.dones: Bools = np.zeros(count, np.bool_)
        self.seen: Seen = {}
        self._show()

    def _show(self) -> None:
        room = np.eye(3, dtype=np.float32)[self.room]
        self.seen = {"room": room, "mask": np.ones((self.count, 2), np.int8)}

    def follow(self, environment: int, random: np.random.Generator) -> None:
        """Every episode is the same."""

    def begin(self) -> None:
        self._show()

    def step(self, actions: Ints) -> None:
        self.room = self.room + actions
        self.dones = self.room == 3
        self.rewards = np.where(self.dones, 5.0, np.where(actions == 1, -1.0, -0.1))
        self.room = np.where(self.dones, 0, self.room)
        self._show()


class Table(nn.Module):
    """A value for each room and action."""

    inputs = ("room", "mask")

    def __init__(self) -> None:
        super().__init__()
        self.value = nn.Linear(3, 1)
        self.rooms = nn.Linear(3, 2)

    def forward(self, seen: dict[str, Tensor]) -> Tensor:
        values: Tensor = self.rooms(seen["room"]) + self.value(seen["room"])
        return values


def test_a_reward_that_comes_late_is_learned() -> None:
    config = DqnConfig(
        steps=1600, environments=8, warm_up=100, batch=32, updates=2, returns=2, scale=1.0,
        horizon=20.0, learning_rate=0.02, last_rate=0.002, explored=0.5, tracking=0.05,
    )  # fmt: skip
    corridor = Corridor(8)
    learner = DqnLearner(Table, corridor, config, lambda: np.zeros(8, np.int64))
    network = learner.train()
    rooms: Seen = {"room": np.eye(3, dtype=np.float32), "mask": np.ones((3, 2), np.int8)}
    assert greedy(network, rooms).tolist() == [1, 1, 1]
