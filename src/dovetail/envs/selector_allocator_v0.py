"""Selector and allocator, by PettingZoo's conventions; needs `dovetail-scheduler[marl]`.

    from dovetail.envs import selector_allocator_v0
    env = selector_allocator_v0.env()           # agents in turn; or parallel_env()
    env.reset(seed=0)
    for agent in env.agent_iter():
        seen, reward, terminated, truncated, info = env.last()
        action = None if terminated else int(seen["action_mask"].argmax())   # the base pair's
        env.step(action)

The selector admits one of the jobs shown, or waits until something happens (its last action). If
the job can start, the allocator picks a class of equal nodes, node by node for gangs; whoever has
but one choice is not asked. An action that the mask rules out is an error; for learners without
masks, `illegal_actions="wait"` waits in its place, or does as the base pair where that is illegal.
"""

from __future__ import annotations

from typing import Any

from dovetail.envs.batch import IllegalActions
from dovetail.envs.selector_allocator.config import SelectorAllocatorConfig
from dovetail.envs.selector_allocator.pool import SelectorAllocatorPool
from dovetail.envs.selector_allocator.reward import RewardWeights

try:
    from pettingzoo.utils import wrappers

    from dovetail.envs.selector_allocator.aec import SelectorAllocatorCycle
    from dovetail.envs.selector_allocator.parallel import SelectorAllocatorParallel
except ImportError as problem:
    raise ImportError(
        f"selector_allocator_v0 needs PettingZoo ({problem}): "
        "pip install 'dovetail-scheduler[marl]'",
        name="pettingzoo",
    ) from problem


def env(
    config: SelectorAllocatorConfig | None = None,
    pool: SelectorAllocatorPool | None = None,
    render_mode: str | None = None,
    illegal_actions: IllegalActions | str = IllegalActions.ERROR,
) -> Any:
    """The two agents in turn, in PettingZoo's usual wrappers."""
    return wrappers.OrderEnforcingWrapper(raw_env(config, pool, render_mode, illegal_actions))


def raw_env(
    config: SelectorAllocatorConfig | None = None,
    pool: SelectorAllocatorPool | None = None,
    render_mode: str | None = None,
    illegal_actions: IllegalActions | str = IllegalActions.ERROR,
) -> SelectorAllocatorCycle:
    """The same without wrappers."""
    return SelectorAllocatorCycle(config, pool, render_mode, illegal_actions)


def parallel_env(
    config: SelectorAllocatorConfig | None = None,
    pool: SelectorAllocatorPool | None = None,
    render_mode: str | None = None,
    illegal_actions: IllegalActions | str = IllegalActions.ERROR,
) -> SelectorAllocatorParallel:
    """Both agents at every step."""
    return SelectorAllocatorParallel(config, pool, render_mode, illegal_actions)


__all__ = [
    "IllegalActions",
    "RewardWeights",
    "SelectorAllocatorConfig",
    "SelectorAllocatorPool",
    "env",
    "parallel_env",
    "raw_env",
]
