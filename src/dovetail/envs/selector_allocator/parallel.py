"""Both agents at every step: PettingZoo's parallel environment."""

from __future__ import annotations

from typing import Any

import gymnasium
from pettingzoo import ParallelEnv

from dovetail.envs.batch import IllegalActions, InvalidAction
from dovetail.envs.selector_allocator.config import AGENT_NAMES, SelectorAllocatorConfig
from dovetail.envs.selector_allocator.game import (
    METADATA,
    Game,
    Look,
    action_space,
    observation_space,
    state_space,
)
from dovetail.envs.selector_allocator.pool import SelectorAllocatorPool


class SelectorAllocatorParallel(ParallelEnv[str, Any, Any]):  # type: ignore[misc]
    """Both act, but only one of them has more than its last action; both get the same reward."""

    metadata = METADATA

    def __init__(
        self,
        config: SelectorAllocatorConfig | None = None,
        pool: SelectorAllocatorPool | None = None,
        render_mode: str | None = None,
        illegal_actions: IllegalActions | str = IllegalActions.ERROR,
    ) -> None:
        self.game = Game(config, pool, render_mode, illegal_actions)
        self.render_mode = render_mode
        self.possible_agents = list(AGENT_NAMES)
        self.agents: list[str] = []
        self.observation_spaces = {name: observation_space(name) for name in AGENT_NAMES}
        self.action_spaces = {name: action_space(name) for name in AGENT_NAMES}
        self.state_space = state_space()

    def observation_space(self, agent: str) -> gymnasium.Space[Any]:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> gymnasium.Space[Any]:
        return self.action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Look], dict[str, dict[str, Any]]]:
        self.game.begin(seed, options)
        self.agents = list(AGENT_NAMES)
        return self._looks(), {name: {} for name in AGENT_NAMES}

    def step(
        self, actions: dict[str, Any]
    ) -> tuple[
        dict[str, Look],
        dict[str, float],
        dict[str, bool],
        dict[str, bool],
        dict[str, dict[str, Any]],
    ]:
        if not self.agents:
            raise InvalidAction("the episode has ended; call reset() first")
        if self.game.agent not in actions:
            raise InvalidAction(f"it is the turn of the {self.game.agent}, who has no action")
        reward, told = self.game.act(actions[self.game.agent])
        over = self.game.over
        if over:
            self.agents = []
        return (
            self._looks(),
            dict.fromkeys(AGENT_NAMES, reward),
            dict.fromkeys(AGENT_NAMES, over),
            dict.fromkeys(AGENT_NAMES, False),
            {name: dict(told) for name in AGENT_NAMES},
        )

    def state(self) -> Any:
        return self.game.state()

    def render(self) -> Any:
        return self.game.render()

    def close(self) -> None:
        """Nothing is held."""

    def _looks(self) -> dict[str, Look]:
        return {name: self.game.look(name) for name in AGENT_NAMES}
