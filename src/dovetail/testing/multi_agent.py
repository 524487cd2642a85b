"""An environment of several agents keeps PettingZoo's rules, its masks, its seeds and its purse."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from dovetail.testing.environments import LONGEST, plain

Make = Callable[[], Any]
"""What makes an environment, a fresh one at every call."""

Worth = Callable[[dict[str, Any]], float]
"""What the rewards of an episode sum to, worked out from what its last step tells an agent."""

Moves = Iterator[tuple[str, float, dict[str, Any]]]
"""Every observation and reward as it comes: whose, how much, and what is told."""

CYCLES, EPISODES = 100, 3


def check_multi_agent_environment(
    env: Make,
    parallel_env: Make | None = None,
    *,
    any_action: Make | None = None,
    worth: Worth | None = None,
) -> None:
    """All that an environment of several agents is held to; needs PettingZoo.

    env: agents in turn (AEC); parallel_env: the same with all agents at every step.
    any_action: a parallel environment that takes what a mask rules out. PettingZoo's seed test of
        parallel environments draws actions without looking at masks; left out, it is not run.
    worth: what each agent's rewards of an episode sum to; left out, sums are not looked at.
    """
    from pettingzoo.test import api_test, parallel_api_test, seed_test
    from pettingzoo.test.seed_test import parallel_seed_test

    with warnings.catch_warnings():
        # Hints, no errors: agents may see rows of different shapes, or numbers below 0.
        warnings.filterwarnings("ignore", category=UserWarning, module="pettingzoo")
        api_test(env(), num_cycles=CYCLES)
        if parallel_env is not None:
            parallel_api_test(parallel_env(), num_cycles=CYCLES)
    seed_test(env, num_cycles=CYCLES)
    if any_action is not None:
        parallel_seed_test(any_action, num_cycles=CYCLES)
    _check_episodes(env, _in_turn, worth)
    if parallel_env is not None:
        _check_episodes(parallel_env, _together, worth)


def _check_episodes(make: Make, play: Callable[..., Moves], worth: Worth | None) -> None:
    """Legal actions are taken, episodes end, are repeated by a seed, and are worth their sum."""
    for seed in range(EPISODES):
        told: dict[str, dict[str, Any]] = {}
        earned: dict[str, float] = {}
        seen, again = [], []
        for agent, reward, about in play(make(), seed):
            told[agent] = about["info"]
            earned[agent] = earned.get(agent, 0.0) + reward
            seen.append((agent, reward, about["seen"]))
        for agent, reward, about in play(make(), seed):
            again.append((agent, reward, about["seen"]))
        assert seen == again, f"{make()}: seed {seed} gave another episode the second time"
        if worth is None:
            continue
        for agent, total in earned.items():
            due = worth(told[agent])
            assert math.isclose(total, due, rel_tol=1e-6, abs_tol=1e-6), (
                f"{make()}: the rewards of {agent} sum to {total:g}, the episode is worth {due:g}"
            )


def _in_turn(env: Any, seed: int) -> Moves:
    env.reset(seed=seed)
    random = np.random.default_rng(seed)
    for number, agent in enumerate(env.agent_iter(max_iter=LONGEST)):
        seen, reward, terminated, truncated, info = env.last()
        yield agent, float(reward), {"seen": plain(seen), "info": info}
        over = terminated or truncated
        env.step(None if over else legal(env.action_space(agent), seen, info, agent, random))
        assert number + 1 < LONGEST, f"{env}: no end after {LONGEST} decisions"
    env.close()


def _together(env: Any, seed: int) -> Moves:
    looks, infos = env.reset(seed=seed)
    random = np.random.default_rng(seed)
    for agent in env.agents:
        yield agent, 0.0, {"seen": plain(looks[agent]), "info": infos[agent]}
    for _ in range(LONGEST):
        actions = {
            agent: legal(env.action_space(agent), looks[agent], infos[agent], agent, random)
            for agent in env.agents
        }
        looks, rewards, _, _, infos = env.step(actions)
        for agent in actions:
            about = {"seen": plain(looks[agent]), "info": infos[agent]}
            yield agent, float(rewards[agent]), about
        if not env.agents:
            env.close()
            return
    raise AssertionError(f"{env}: no end after {LONGEST} decisions")


def legal(
    space: Any, seen: Any, info: dict[str, Any], agent: str, random: np.random.Generator
) -> Any:
    """One of the actions that the mask lets through, which must be one for each action there is."""
    mask = seen.get("action_mask") if isinstance(seen, dict) else None
    mask = info.get("action_mask") if mask is None else mask
    if mask is None:
        space.seed(int(random.integers(1 << 31)))
        return space.sample()
    mask = np.asarray(mask)
    assert mask.shape == (space.n,), (
        f"the mask of {agent} is of shape {mask.shape}, expected one for each of {space.n} actions"
    )
    assert set(np.unique(mask).tolist()) <= {0, 1}, f"the mask of {agent} is not of 0 and 1"
    assert mask.any(), f"the mask of {agent} rules out every action"
    return int(space.start + random.choice(np.flatnonzero(mask)))
