"""What is remembered is what happened, and large errors come back more often."""

from __future__ import annotations

import numpy as np
import pytest

from dovetail.agents.dqn.config import DqnConfig
from dovetail.agents.dqn.replay import ReplayMemory
from dovetail.domain.errors import ConfigError

NOTHING = np.zeros(2)


def filled(steps: int, capacity: int = 20) -> ReplayMemory:
    """Two environments that count; what is seen is the number of the step."""
    memory = ReplayMemory({"at": np.zeros((2, 1), np.float32)}, capacity, 1, 1e9, 0)
    for step in range(steps):
        seen = {"at": np.full((2, 1), step, np.float32)}
        memory.add(seen, np.array([step, step]), NOTHING + step, NOTHING + 1, NOTHING > 0)
    return memory


@pytest.mark.parametrize("steps", [3, 10, 11, 37])
def test_what_follows_is_what_came_next(steps: int) -> None:
    for draw in ("draw", "draw_by_error"):
        batch = getattr(filled(steps), draw)(200)
        assert np.array_equal(batch.after["at"], batch.seen["at"] + 1)
        assert np.array_equal(batch.actions, batch.rewards)
        assert batch.seen["at"].min() >= max(0, steps - 10)


def test_large_errors_are_drawn_more_often_and_weigh_less() -> None:
    memory = filled(10)
    every = np.arange(20)
    memory.rate(every, np.where(every == 6, 50.0, 0.01))
    batch = memory.draw_by_error(500)
    chosen = batch.rows == 6
    assert chosen.mean() > 0.5
    assert batch.weights[chosen].max() < batch.weights[~chosen].min()


def test_a_configuration_without_sense_is_refused() -> None:
    for bad in ({"steps": 0}, {"guided": 2.0}, {"horizon": 0.0}, {"last_rate": 1.0}):
        with pytest.raises(ConfigError):
            DqnConfig(**bad)
