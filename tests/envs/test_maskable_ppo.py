"""An unmodified MaskablePPO trains on the environment, where it is installed."""

from __future__ import annotations

import gymnasium
import pytest

from dovetail.envs import QUEUE_PRIORITY
from tests.envs.scenes import small_pool


def test_an_unmodified_maskable_ppo_trains() -> None:
    contrib = pytest.importorskip("sb3_contrib")
    env = gymnasium.make(QUEUE_PRIORITY, pool=small_pool())
    learner = contrib.MaskablePPO(
        "MultiInputPolicy", env, n_steps=64, batch_size=32, n_epochs=1, seed=0
    )
    learner.learn(128)
    seen, _ = env.reset(seed=0)
    action, _ = learner.predict(seen, action_masks=seen["mask"].astype(bool))
    assert seen["mask"][action] == 1
