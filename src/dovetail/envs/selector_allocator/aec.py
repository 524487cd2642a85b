"""The two agents in turn: PettingZoo's agent environment cycle."""

from __future__ import annotations

from typing import Any

import gymnasium
from pettingzoo import AECEnv

from dovetail.envs.batch import IllegalActions
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


class SelectorAllocatorCycle(AECEnv[str, Any, Any]):  # type: ignore[misc]
    """Whoever is to decide is selected; both get the same reward."""

    metadata = METADATA

    def __init__(
        self,
        config: SelectorAllocatorConfig | None = None,
        pool: SelectorAllocatorPool | None = None,
        render_mode: str | None = None,
        illegal_actions: IllegalActions | str = IllegalActions.ERROR,
    ) -> None:
        super().__init__()
        self.game = Game(config, pool, render_mode, illegal_actions)
        self.render_mode = render_mode
        self.possible_agents = list(AGENT_NAMES)
        self.observation_spaces = {name: observation_space(name) for name in AGENT_NAMES}
        self.action_spaces = {name: action_space(name) for name in AGENT_NAMES}
        self.state_space = state_space()

    def observation_space(self, agent: str) -> gymnasium.Space[Any]:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> gymnasium.Space[Any]:
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        self.game.begin(seed, options)
        self.agents = list(AGENT_NAMES)
        self.rewards = dict.fromkeys(AGENT_NAMES, 0.0)
        self._cumulative_rewards = dict.fromkeys(AGENT_NAMES, 0.0)
        self.terminations = dict.fromkeys(AGENT_NAMES, False)
        self.truncations = dict.fromkeys(AGENT_NAMES, False)
        self.infos: dict[str, dict[str, Any]] = {name: {} for name in AGENT_NAMES}
        self.agent_selection = self.game.agent

    def step(self, action: Any) -> None:
        if self.terminations[self.agent_selection]:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[self.agent_selection] = 0.0
        reward, told = self.game.act(action)
        self.rewards = dict.fromkeys(AGENT_NAMES, reward)
        if self.game.over:
            self.terminations = dict.fromkeys(AGENT_NAMES, True)
            self.infos = {name: dict(told) for name in AGENT_NAMES}
        else:
            self.agent_selection = self.game.agent
        self._accumulate_rewards()

    def observe(self, agent: str) -> Look:
        return self.game.look(agent)

    def state(self) -> Any:
        return self.game.state()

    def render(self) -> Any:
        return self.game.render()

    def close(self) -> None:
        """Nothing is held."""
