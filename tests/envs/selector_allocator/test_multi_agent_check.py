"""The check of environments of several agents finds what is broken; that ours pass it is checked
with all other registered parts."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from gymnasium.spaces import Discrete

pytest.importorskip("pettingzoo")
from pettingzoo.utils.wrappers import BaseWrapper

from dovetail.envs import selector_allocator_v0
from dovetail.envs.selector_allocator.pool import SelectorAllocatorPool
from dovetail.testing import check_multi_agent_environment
from dovetail.testing.multi_agent import legal
from tests.envs.selector_allocator.scenes import small_pair_pool


@cache
def pool() -> SelectorAllocatorPool:
    return small_pair_pool()


def make() -> Any:
    return selector_allocator_v0.env(pool=pool())


class Forgetful(BaseWrapper[str, Any, Any]):  # type: ignore[misc]
    """Plays another episode each time, whatever the seed."""

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        super().reset(seed=None, options=options)


def test_rewards_that_do_not_sum_to_what_an_episode_is_worth_are_found() -> None:
    with pytest.raises(AssertionError, match="the episode is worth 2"):
        check_multi_agent_environment(make, worth=lambda told: 2.0)


def test_an_environment_that_forgets_its_seed_is_found() -> None:
    with pytest.raises(AssertionError):
        check_multi_agent_environment(lambda: Forgetful(make()))


@pytest.mark.parametrize(
    ("mask", "says"),
    [([1, 1], "expected one for each of 3"), ([0, 0, 0], "every action"), ([0, 2, 1], "0 and 1")],
)
def test_masks_that_say_nothing_are_found(mask: list[int], says: str) -> None:
    seen = {"action_mask": np.array(mask)}
    with pytest.raises(AssertionError, match=says):
        legal(Discrete(3), seen, {}, "selector", np.random.default_rng(0))


def test_a_mask_may_be_seen_or_told_and_its_actions_begin_where_the_space_does() -> None:
    random, space = np.random.default_rng(0), Discrete(3, start=5)
    for seen, info in (({"action_mask": [0, 1, 0]}, {}), ({}, {"action_mask": [0, 1, 0]})):
        assert legal(space, seen, info, "selector", random) == 6
    assert legal(space, {}, {}, "selector", random) in (5, 6, 7)
