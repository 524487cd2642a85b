"""How RLTune is trained; importable without torch."""

from __future__ import annotations

from dataclasses import dataclass

from dovetail.agents.aim import USUAL_TEXT, aim_of, refuse_unlearnt
from dovetail.agents.choice.cells import LONGEST
from dovetail.agents.ppo.config import PpoConfig
from dovetail.agents.promised import promised_tail
from dovetail.agents.rltune.starts import STARTS
from dovetail.domain.errors import ConfigError
from dovetail.envs.reward import METRICS
from dovetail.policies.ordering import ORDERINGS
from dovetail.policies.selections import SELECTIONS


@dataclass(frozen=True, slots=True)
class RltuneConfig:
    """The paper's settings where it gives any; stored with the checkpoint."""

    base: str = "fcfs"  # the policy to be better than; the queue is shown in its order
    metric: str = "bsld"  # by which
    features: str = "sampled"  # what is seen of a job: one of SELECTIONS
    start: str = "saf"
    temperature: float = 2.0  # of the start as SAF; higher explores less
    epochs: int = 100
    episodes_per_epoch: int = 100
    length: int = 256  # jobs of an episode
    windows: int = 256  # to draw episodes from
    environments: int = 50  # played side by side
    estimates: str = "predicted"
    objective: str = USUAL_TEXT  # what is wanted, by weight
    promises: str = ""  # to be kept against Slurm's own order: size_p95=10%
    dense: float = 0.0  # share of the reward charged as waiting passes; 0: as published
    ppo: PpoConfig = PpoConfig()  # noqa: RUF009 - it is frozen
    validate_every: int = 5  # epochs
    patience: int = 8  # validations without improvement
    longest: int = LONGEST  # jobs that choice and gate measure at most, at each load
    seed: int = 0

    def __post_init__(self) -> None:
        refuse_unlearnt("rltune", aim_of(self.objective))
        promised_tail(self.promises)
        for name in (
            "epochs", "episodes_per_epoch", "length", "windows", "environments",
            "validate_every", "patience",
        ):  # fmt: skip
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} is {getattr(self, name)}, expected 1 or more")
        if not self.temperature > 0:
            raise ConfigError(f"temperature is {self.temperature}, expected above 0")
        if self.seed < 0:
            raise ConfigError(f"seed is {self.seed}, expected 0 or more")
        if self.dense and self.metric != "wait":
            raise ConfigError(f"dense is {self.dense}: it needs --metric wait, not {self.metric}")
        # Looking each part up is the check: an unknown name answers "did you mean".
        _ = ORDERINGS[self.base], METRICS[self.metric], SELECTIONS[self.features]
        _ = STARTS[self.start]
