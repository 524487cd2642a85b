"""How a deep Q-network is trained."""

from __future__ import annotations

from dataclasses import dataclass

from dovetail.domain.errors import ConfigError


@dataclass(frozen=True, slots=True)
class DqnConfig:
    """Defaults are those of the assignment task; see decision 0041 for what was measured."""

    steps: int = 200_000  # decisions in all environments together
    environments: int = 64
    learning_rate: float = 5e-4  # of Adam
    last_rate: float = 2e-5  # where it ends, linearly
    horizon: float = 300.0  # seconds after which a reward counts 1/e
    returns: int = 8  # steps whose rewards a target counts before it asks the network
    scale: float = 10.0  # by which rewards are divided
    batch: int = 256
    updates: int = 4  # per step of all environments
    warm_up: int = 6_000  # decisions before the first update
    memory: int = 60_000  # decisions kept
    exploration: float = 0.5  # ε at first
    last_exploration: float = 0.02
    explored: float = 0.15  # share of the steps over which it falls
    guided: float = 0.0  # share of explored decisions that a rule takes instead of chance
    settling: float = 0.0  # share of the steps in which only the value of situations is learned
    tracking: float = 0.005  # by which the target network follows at every update
    double: bool = True  # the online network chooses what the target network values
    duelling: bool = False  # value and advantage apart
    prioritised: bool = False  # decisions with large errors are seen more often
    seed: int = 0

    def __post_init__(self) -> None:
        if min(self.steps, self.environments, self.batch, self.updates, self.memory) < 1:
            raise ConfigError("steps, environments, batch, updates and memory start at 1")
        shares = (self.exploration, self.last_exploration, self.explored, self.guided)
        if not all(0 <= share <= 1 for share in (*shares, self.tracking, self.settling)):
            raise ConfigError("exploration, guided, settling and tracking lie between 0 and 1")
        if not self.horizon > 0:
            raise ConfigError(f"horizon is {self.horizon}, expected seconds above 0")
        if not 0 < self.last_rate <= self.learning_rate:
            raise ConfigError("learning rates are above 0, and the last is not above the first")
