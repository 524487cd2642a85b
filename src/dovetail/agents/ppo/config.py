"""How PPO learns; importable without torch."""

from __future__ import annotations

from dataclasses import dataclass

from dovetail.domain.errors import ConfigError


@dataclass(frozen=True, slots=True)
class PpoConfig:
    """RLTune's settings, with a few passes over minibatches instead of 80 over everything."""

    discount: float = 1.0
    decay: float = 0.97  # λ of the advantage estimates
    clip: float = 0.2
    entropy: float = 0.001  # weight of the bonus
    passes: int = 3
    minibatch: int = 512  # decisions
    divergence: float = 0.015  # KL at which the passes over a rollout stop
    actor_rate: float = 3e-3  # higher than published, as the passes are fewer
    critic_rate: float = 1e-3
    longest_step: float = 1.0  # norm to which a gradient is clipped

    def __post_init__(self) -> None:
        for name in ("passes", "minibatch"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} is {getattr(self, name)}, expected 1 or more")
        for name in ("clip", "divergence", "actor_rate", "critic_rate", "longest_step"):
            if not getattr(self, name) > 0:
                raise ConfigError(f"{name} is {getattr(self, name)}, expected above 0")
        for name in ("discount", "decay"):
            if not 0 <= getattr(self, name) <= 1:
                raise ConfigError(f"{name} is {getattr(self, name)}, expected 0 to 1")
