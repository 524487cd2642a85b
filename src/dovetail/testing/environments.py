"""An environment keeps Gymnasium's rules, ends, and the same seed gives the same episode."""

from __future__ import annotations

import warnings
from typing import Any

import gymnasium
import numpy as np
from gymnasium.utils.env_checker import check_env

import dovetail.envs  # noqa: F401 - registers ours, and those of installed packages

LONGEST = 100_000
"""Decisions within which an episode of legal actions must end."""


def check_environment(name: str, **arguments: Any) -> None:
    """All that every environment is held to; `arguments` are those of `gymnasium.make`."""
    first, second = (gymnasium.make(name, **arguments) for _ in range(2))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            check_env(first.unwrapped, skip_render_check=True)
        assert _episode(first) == _episode(second), f"{name}: the same seed gave another episode"
    finally:
        first.close()
        second.close()


def _episode(env: gymnasium.Env[Any, Any]) -> list[Any]:
    """Every observation and reward of an episode of legal actions."""
    seen, info = env.reset(seed=5)
    env.action_space.seed(5)
    random = np.random.default_rng(5)
    found: list[Any] = [plain(seen)]
    for _ in range(LONGEST):
        seen, reward, terminated, truncated, info = env.step(_legal(env, seen, info, random))
        found.append((plain(seen), float(reward)))
        if terminated or truncated:
            return found
    raise AssertionError(f"{env}: no end after {LONGEST} decisions")


def _legal(
    env: gymnasium.Env[Any, Any], seen: Any, info: dict[str, Any], random: np.random.Generator
) -> Any:
    """A legal action: by `action_masks`, by a mask that is seen or told, else any."""
    mask = seen.get("mask") if isinstance(seen, dict) else None
    if mask is None:
        mask = info.get("action_mask")
    if mask is None and hasattr(env.unwrapped, "action_masks"):
        mask = env.unwrapped.action_masks()
    if mask is None:
        return env.action_space.sample()
    return int(random.choice(np.flatnonzero(mask)))


def plain(seen: Any) -> Any:
    """An observation as something that can be compared."""
    if isinstance(seen, dict):
        return {name: plain(value) for name, value in seen.items()}
    return np.asarray(seen).tobytes()
