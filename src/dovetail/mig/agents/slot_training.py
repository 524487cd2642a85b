"""The published learning of placements: MaskablePPO on the whole cluster, and its variants.

    config = SlotTraining(steps=100_000)
    network, seconds = train_slots("ppo", config)         # also "adaptive-kl", "masked-dqn"
    save_slots(Path("model"), network, {"method": "ppo", "seconds": seconds})

Needs stable-baselines3 and sb3-contrib. What comes out is a network that NumPy can play.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.utils import update_learning_rate

from dovetail.domain.errors import ConfigError
from dovetail.domain.registry import Registry
from dovetail.mig.agents.masked_dqn import MaskedDqn, MaskedDqnPolicy, WithoutMask
from dovetail.mig.agents.slot_envs import MaskedSlotEnvs, SlotEnvs
from dovetail.mig.agents.slot_network import SlotNetwork
from dovetail.mig.envs.config import MigPlacementConfig


@dataclass(frozen=True, slots=True)
class SlotTraining:
    """The published settings."""

    steps: int = 500_000
    environments: int = 8
    layers: tuple[int, ...] = (256, 256, 128)
    rollout: int = 1024  # steps of each environment between two updates
    batch: int = 4096
    passes: int = 10  # over each rollout
    rates: tuple[float, float] = (3e-4, 1e-5)  # of learning, at first and in the end
    entropies: tuple[float, float] = (0.02, 0.001)
    clip: float = 0.15
    discount: float = 0.99
    smoothing: float = 0.95
    target_kl: float = 0.01  # of adaptive-kl
    seed: int = 0
    environment: MigPlacementConfig = field(default_factory=MigPlacementConfig)

    def __post_init__(self) -> None:
        for name in ("steps", "environments", "rollout", "batch", "passes"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} is {getattr(self, name)}, expected 1 or more")


def falling(ends: tuple[float, float]) -> Callable[[float], float]:
    """From the first value to the second, evenly; the argument is the share that remains."""
    return lambda remaining: ends[1] + (ends[0] - ends[1]) * max(0.0, remaining)


class _FallingEntropy(BaseCallback):
    """Explores less and less."""

    def __init__(self, ends: tuple[float, float]) -> None:
        super().__init__()
        self.entropy = falling(ends)

    def _on_rollout_start(self) -> None:
        assert isinstance(self.model, MaskablePPO)
        self.model.ent_coef = self.entropy(self.model._current_progress_remaining)

    def _on_step(self) -> bool:
        return True


class AdaptiveKlPpo(MaskablePPO):
    """The learning rate follows the divergence: halved above twice the target, else doubled."""

    steady_kl = 0.01
    factor = 1.0

    def train(self) -> None:
        super().train()
        divergence = float(self.logger.name_to_value["train/approx_kl"])
        if divergence > 2.0 * self.steady_kl:
            self.factor = max(1 / 32, self.factor / 2)
        elif divergence < self.steady_kl / 2:
            self.factor = min(32.0, self.factor * 2)

    def _update_learning_rate(self, optimizers: Any) -> None:
        rate = self.lr_schedule(self._current_progress_remaining) * self.factor
        update_learning_rate(optimizers, rate)


def _in_memory() -> Logger:
    """Figures of a training stay with it: by default each leaves a folder behind."""
    return Logger(folder=None, output_formats=[])


def _ppo(kind: type[MaskablePPO], config: SlotTraining) -> SlotNetwork:
    envs = SlotEnvs(config.environment, config.environments, config.seed)
    model = kind(
        "MlpPolicy", envs, learning_rate=falling(config.rates), n_steps=config.rollout,
        batch_size=config.batch, n_epochs=config.passes, gamma=config.discount,
        gae_lambda=config.smoothing, clip_range=config.clip, ent_coef=config.entropies[0],
        policy_kwargs={"net_arch": list(config.layers)}, seed=config.seed, device="cpu",
    )  # fmt: skip
    if isinstance(model, AdaptiveKlPpo):
        model.steady_kl = config.target_kl
    model.set_logger(_in_memory())
    with closing(envs):
        model.learn(config.steps, callback=_FallingEntropy(config.entropies))
    hidden: Any = model.policy.mlp_extractor.policy_net
    return network_of([*hidden, model.policy.action_net], "tanh")


def _dqn(config: SlotTraining) -> SlotNetwork:
    envs = MaskedSlotEnvs(config.environment, config.environments, config.seed)
    model = MaskedDqn(
        MaskedDqnPolicy, envs, learning_rate=falling(config.rates), buffer_size=100_000,
        learning_starts=2_000, batch_size=256, train_freq=8, gradient_steps=8,
        target_update_interval=2_000, exploration_fraction=0.3, gamma=config.discount,
        policy_kwargs={
            "net_arch": list(config.layers),
            "features_extractor_class": WithoutMask,
            "features_extractor_kwargs": {"actions": envs.envs.batch.actions},
        },
        seed=config.seed, device="cpu",
    )  # fmt: skip
    model.set_logger(_in_memory())
    with closing(envs):
        model.learn(config.steps)
    net: Any = model.q_net.q_net
    return network_of([*net], "relu")


def network_of(modules: list[Any], activation: str) -> SlotNetwork:
    """The linear layers of a torch network."""
    layers = []
    for module in modules:
        if isinstance(module, torch.nn.Linear):
            weights = module.weight.detach().numpy().T.astype(np.float64)
            layers.append((weights, module.bias.detach().numpy().astype(np.float64)))
    return SlotNetwork("slots", tuple(layers), activation)


METHODS: Registry[Callable[[SlotTraining], SlotNetwork]] = Registry(
    "method",
    {
        "ppo": lambda config: _ppo(MaskablePPO, config),
        "adaptive-kl": lambda config: _ppo(AdaptiveKlPpo, config),
        "masked-dqn": _dqn,
    },
)


def train_slots(method: str, config: SlotTraining) -> tuple[SlotNetwork, float]:
    """Train by one of METHODS, on one thread; returns the network and the seconds it took."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        began = time.perf_counter()
        network = METHODS[method](config)
        return network, time.perf_counter() - began
    finally:
        torch.set_num_threads(threads)
