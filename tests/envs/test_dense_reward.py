"""A dense reward charges each waiting second when it passes, and comes to the exact score."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dovetail.domain.errors import ConfigError
from dovetail.envs import Pool, QueuePriorityConfig, QueuePriorityVector, SyntheticWindows
from tests.envs.scenes import random_valid


@pytest.mark.parametrize("dense", [1.0, 0.25])
def test_charges_of_an_episode_add_up_to_the_score(dense: float) -> None:
    windows = SyntheticWindows(cluster="8x8", jobs=1500, load=1.1, length=64)
    config = QueuePriorityConfig(windows, metric="wait", dense=dense, pool=4)
    environments = QueuePriorityVector(1, pool=Pool(config))
    seen: Any
    seen, _ = environments.reset(seed=1)
    total, charged, ended = 0.0, 0, 0
    for number in range(2000):
        seen, reward, over, _, infos = environments.step(random_valid(seen["mask"], number))
        total += float(reward[0])
        if not over[0]:
            assert reward[0] <= 1e-9  # nothing but waiting passes
            charged += int(reward[0] < 0)
            continue
        base, score = (float(infos["final_info"][name][0]) for name in ("base", "score"))
        final = (base - score) / max(base, score, 1.0)
        share = 1.0 - score / max(base, 1.0)
        assert total == pytest.approx(dense * share + (1.0 - dense) * final, abs=1e-9)
        total, ended = 0.0, ended + 1
        if ended == 3:
            break
    assert ended == 3
    assert charged > 3
    environments.close()


@pytest.mark.parametrize("wrong", [{"dense": 1.5}, {"dense": 1.0, "metric": "bsld"}])
def test_a_dense_reward_that_cannot_be_paid_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="dense is"):
        QueuePriorityConfig(**wrong)
    assert np.isfinite(QueuePriorityConfig(metric="wait", dense=1.0).dense)
