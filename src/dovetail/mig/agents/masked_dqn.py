"""Deep Q-learning that never chooses, explores or expects an action that is not valid."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.dqn import DQN
from stable_baselines3.dqn.policies import DQNPolicy, QNetwork

NEVER = -1e9
"""The value of an action that is not valid."""


class WithoutMask(BaseFeaturesExtractor):
    """What is seen without the mask behind it: the network is to learn, the mask to forbid."""

    def __init__(self, observation_space: spaces.Box, actions: int) -> None:
        super().__init__(observation_space, observation_space.shape[0] - actions)

    def forward(self, seen: torch.Tensor) -> torch.Tensor:
        return seen[:, : self.features_dim]


class MaskedQNetwork(QNetwork):
    """Actions that are not valid have no value; the mask stands at the end of what is seen."""

    def forward(self, obs: Any) -> torch.Tensor:
        values = super().forward(obs)
        return values.masked_fill(obs[:, -values.shape[1] :] < 0.5, NEVER)


class MaskedDqnPolicy(DQNPolicy):
    """Deep Q-learning whose choice and whose targets respect the mask."""

    def make_q_net(self) -> QNetwork:
        arguments = self._update_features_extractor(self.net_args, features_extractor=None)
        return MaskedQNetwork(**arguments).to(self.device)


class MaskedDqn(DQN):
    """Explores among valid actions only."""

    def predict(
        self, observation: Any, state: Any = None, episode_start: Any = None,
        deterministic: bool = False,
    ) -> tuple[Any, Any]:  # fmt: skip
        if not deterministic and self._chance.random() < self.exploration_rate:
            assert isinstance(self.action_space, spaces.Discrete)
            mask = observation[:, -int(self.action_space.n) :]
            return np.argmax(self._chance.random(mask.shape) * mask, axis=1), state
        return self.policy.predict(observation, state, episode_start, deterministic)

    def _setup_model(self) -> None:
        super()._setup_model()
        self._chance = np.random.default_rng(self.seed)

    def _sample_action(
        self, learning_starts: int, action_noise: Any = None, n_envs: int = 1
    ) -> Any:
        # Before learning starts the original draws from all actions, valid or not.
        return super()._sample_action(0, action_noise, n_envs)
