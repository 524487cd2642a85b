"""Many environments in one call go exactly as single ones do."""

from __future__ import annotations

import numpy as np
import pytest

from dovetail.domain.errors import ConfigError
from dovetail.envs import InvalidAction, QueuePriority, QueuePriorityBatch
from tests.envs.scenes import random_valid, small_pool


@pytest.mark.parametrize("threads", [1, 2])
def test_a_batch_goes_step_by_step_as_single_environments_do(threads: int) -> None:
    pool, count = small_pool("saf"), 3
    batch = QueuePriorityBatch(count=count, threads=threads, pool=pool)
    singles = [QueuePriority(pool=pool) for _ in range(count)]
    seen = batch.reset(seed=5)
    alone = [env.reset(seed=5 + i)[0] for i, env in enumerate(singles)]
    ended = 0
    for step in range(400):
        for name, array in seen.items():
            assert np.array_equal(array, np.stack([one[name] for one in alone]))
        actions = random_valid(seen["mask"], step)
        seen, rewards, dones, infos = batch.step(actions)
        for i, env in enumerate(singles):
            alone[i], reward, over, _, info = env.step(actions[i])
            assert (reward, over) == (rewards[i], dones[i])
            if over:
                ended += 1
                assert info["score"] == infos["score"][i]
                assert (info["base"], info["window"]) == (infos["base"][i], infos["window"][i])
                alone[i], _ = env.reset()
    assert ended > 3
    batch.close()


def test_a_batch_refuses_masked_actions_and_says_where() -> None:
    batch = QueuePriorityBatch(count=2, pool=small_pool())
    with pytest.raises(InvalidAction, match="reset"):
        batch.step([0, 0])
    seen = batch.reset(seed=0)
    with pytest.raises(InvalidAction, match="environment 1"):
        batch.step([0, int(seen["mask"][1, :256].sum())])
    with pytest.raises(InvalidAction, match="shape"):
        batch.step([0])


def test_a_batch_needs_an_environment_for_every_thread() -> None:
    with pytest.raises(ConfigError, match="threads"):
        QueuePriorityBatch(count=1, threads=2, pool=small_pool())
