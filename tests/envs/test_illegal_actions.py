"""Illegal actions that wait: time is lost, nothing breaks, every episode ends."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest

from dovetail.envs import QUEUE_PRIORITY, QueuePriority, QueuePriorityVector
from dovetail.envs.batch_kernel import DECLINE
from tests.builders import job
from tests.envs.scenes import pool_of, random_valid, small_pool

ILLEGAL = np.int64(200)


def test_waiting_starts_nothing_before_the_next_event() -> None:
    # At 100 the node is free, and one of two jobs could have it. Who waits, waits until 150.
    rows = job(0, 100, 8), job(1, 1000, 8), job(2, 10, 8), job(150, 10, 8)
    env = QueuePriority(pool=pool_of("1x8", *rows, metric="wait"), illegal_actions="wait")
    env.reset()
    seen, _, over, _, _ = env.step(ILLEGAL)
    assert not over
    assert seen["mask"].sum() == 3
    while not over:
        _, _, over, _, info = env.step(np.int64(0))
    assert info["score"] == pytest.approx((0 + 149 + 1148 + 1010) / 4)


def test_when_nothing_else_is_to_happen_the_bases_choice_is_taken() -> None:
    rows = job(0, 100, 8), job(1, 1000, 8), job(2, 10, 8)
    env = QueuePriority(pool=pool_of("1x8", *rows, metric="wait"), illegal_actions="wait")
    env.reset()
    _, reward, over, _, info = env.step(np.int64(-7))
    assert over
    assert (reward, info["score"]) == (0.0, info["base"])


@pytest.mark.parametrize("action", [ILLEGAL, np.int64(-1), np.int64(DECLINE + 5)])
def test_an_episode_of_nothing_but_illegal_actions_ends_and_is_worse_than_the_base(
    action: np.int64,
) -> None:
    env = QueuePriority(pool=small_pool(), illegal_actions="wait")
    env.reset(seed=3)
    over, steps, reward = False, 0, 0.0
    while not over:
        _, reward, over, _, _ = env.step(action)
        steps += 1
        assert steps < 5000
    assert -1.0 <= reward < 0.0


def test_legal_actions_mean_what_they_always_mean() -> None:
    strict, lenient = (
        QueuePriorityVector(3, pool=small_pool(), illegal_actions=how) for how in ("error", "wait")
    )
    seen, _ = strict.reset(seed=2)
    lenient.reset(seed=2)
    for number in range(200):
        actions = random_valid(seen["mask"], number)
        seen, rewards, *_ = strict.step(actions)
        again, others, *_ = lenient.step(actions)
        np.testing.assert_array_equal(rewards, others)
        np.testing.assert_array_equal(seen["jobs"], again["jobs"])


def test_an_unmodified_ppo_without_masks_trains() -> None:
    sb3 = pytest.importorskip("stable_baselines3")
    env = gymnasium.make(QUEUE_PRIORITY, pool=small_pool(), illegal_actions="wait")
    learner = sb3.PPO("MultiInputPolicy", env, n_steps=128, batch_size=64, n_epochs=1, seed=0)
    learner.learn(384)
    assert learner.num_timesteps == 384
