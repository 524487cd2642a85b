"""What a learner may hand over by mistake; compiled code, which checks no bounds, never sees it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dovetail.domain.errors import ConfigError
from dovetail.envs import InvalidAction, QueuePriority, QueuePriorityVector
from tests.envs.scenes import small_pool


@pytest.mark.parametrize(
    "action", [0.5, "0", None, [0], [[0]], np.nan, True, 10**9, -(10**9), 10**30, {"a": 1}]
)
def test_an_action_that_is_no_number_of_a_job_is_refused(action: Any) -> None:
    env = QueuePriority(pool=small_pool())
    env.reset(seed=0)
    with pytest.raises(InvalidAction):
        env.step(action)


@pytest.mark.parametrize("window", [4, 10**9, -1, 1.5, "1", None])
def test_a_window_that_the_pool_does_not_have_is_refused(window: Any) -> None:
    env = QueuePriority(pool=small_pool())
    with pytest.raises((InvalidAction, ConfigError, TypeError), match=r"window"):
        env.reset(options={"window": window})


@pytest.mark.parametrize("windows", [[0], [0, 4], [0, -1], [0.0, 1.0], "ab", [[0, 1]], None])
def test_windows_of_a_batch_are_checked(windows: Any) -> None:
    env = QueuePriorityVector(num_envs=2, pool=small_pool())
    with pytest.raises((InvalidAction, ConfigError), match="window"):
        env.reset(options={"window": windows})
