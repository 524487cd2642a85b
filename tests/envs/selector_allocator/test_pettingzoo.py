"""What PettingZoo's own tests of both interfaces do not look at.

These run with `check_multi_agent_environment`, as for every registered environment.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

pytest.importorskip("pettingzoo")
from pettingzoo.test import performance_benchmark

from dovetail.envs import selector_allocator_v0
from dovetail.envs.batch import InvalidAction
from dovetail.envs.selector_allocator.pool import SelectorAllocatorPool
from tests.envs.selector_allocator.scenes import small_pair_pool


@cache
def pool() -> SelectorAllocatorPool:
    return small_pair_pool()


def make(kind: Callable[..., Any], mode: str | None = None) -> Any:
    return kind(pool=pool(), render_mode=mode)


def test_the_performance_test_runs(capsys: pytest.CaptureFixture[str]) -> None:
    performance_benchmark(make(selector_allocator_v0.env))
    assert "per second" in capsys.readouterr().out


def test_action_0_plays_as_the_base_pair_does_and_is_worth_nothing() -> None:
    env = make(selector_allocator_v0.env)
    env.reset(seed=3)
    total, asked = 0.0, set()
    for agent in env.agent_iter():
        seen, reward, over, _, info = env.last()
        total += reward if agent == "selector" else 0.0
        asked.add(agent)
        env.step(None if over else int(seen["action_mask"].argmax()))
    assert asked == {"selector", "allocator"}
    assert total == pytest.approx(0.0, abs=1e-9)
    assert info["wait"] == info["base_wait"]
    assert info["bsld"] == info["base_bsld"]


def test_both_interfaces_play_the_same_window_alike() -> None:
    cycle, both = make(selector_allocator_v0.env), make(selector_allocator_v0.parallel_env)
    cycle.reset(seed=7)
    looks, _ = both.reset(seed=7)
    random = np.random.default_rng(0)
    while both.agents:
        agent = cycle.agent_selection
        seen = cycle.observe(agent)
        np.testing.assert_array_equal(seen["observation"], looks[agent]["observation"])
        action = int(random.choice(np.flatnonzero(seen["action_mask"])))
        cycle.step(action)
        idle = {name: both.action_space(name).n - 1 for name in both.agents}
        looks, rewards, *_ = both.step(idle | {agent: action})
        assert cycle.rewards == rewards


def test_who_is_not_asked_sees_nothing_and_has_its_last_action_only() -> None:
    env = make(selector_allocator_v0.env)
    env.reset(seed=0)
    other = next(name for name in env.possible_agents if name != env.agent_selection)
    seen = env.observe(other)
    assert not seen["observation"].any()
    assert np.flatnonzero(seen["action_mask"]).tolist() == [env.action_space(other).n - 1]


def test_an_action_that_the_mask_rules_out_is_an_error_that_says_what_is_legal() -> None:
    env = make(selector_allocator_v0.parallel_env)
    env.reset(seed=0)
    with pytest.raises(InvalidAction, match="of the selector is not legal, expected 0 to"):
        env.step({"selector": 200, "allocator": 0})
    with pytest.raises(InvalidAction, match="turn of the selector"):
        env.step({"allocator": 0})


def test_the_queue_and_the_nodes_are_drawn() -> None:
    text, pixels = (make(selector_allocator_v0.env, mode) for mode in ("ansi", "rgb_array"))
    for env in (text, pixels):
        env.reset(seed=0)
    assert "GPUs free" in text.render()
    assert pixels.render().dtype == np.uint8
    while text.agent_selection != "allocator":
        text.step(0)
    assert "the allocator places job" in text.render()
    assert make(selector_allocator_v0.env).unwrapped.render() is None
