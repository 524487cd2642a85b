"""How the selector and the allocator are trained; importable without torch."""

from __future__ import annotations

from dataclasses import dataclass

from dovetail.agents.aim import USUAL, USUAL_TEXT, aim_of, refuse_unlearnt
from dovetail.agents.choice.cells import LONGEST
from dovetail.agents.ppo.config import PpoConfig
from dovetail.agents.promised import promised_tail
from dovetail.domain.errors import ConfigError
from dovetail.envs.selector_allocator.config import ALLOCATOR, SELECTOR
from dovetail.envs.selector_allocator.reward import RewardWeights
from dovetail.policies.ordering import ORDERINGS
from dovetail.policies.placement import PLACEMENTS

LEARNED, FROZEN = "learned", "frozen"
"""A half that learns, or that only imitates; any other word names the heuristic in its place."""


@dataclass(frozen=True, slots=True)
class SelectorAllocatorSettings:
    """Stored with the checkpoint; the base pair is what was chosen, or the heuristics named."""

    selector: str = LEARNED  # learned, frozen, or an ordering such as saf
    allocator: str = LEARNED  # learned, frozen, or a placement such as best-fit
    wait: float = 0.5  # what the metrics count in the shared reward
    turnaround: float = 0.0
    bsld: float = 0.5
    utilisation: float = 0.0
    imitated: int = 60  # episodes of a base pair that is no linear rule, imitated before learning
    imitation_passes: int = 4  # over them
    search_epochs: int = 12  # of the search for linear rules before PPO; 0: none
    population: int = 12  # of that search
    batch: int = 4  # replays that every candidate of an epoch plays
    replays: int = 8  # to draw from
    replay_length: int = 4000  # jobs of a replay
    epochs: int = 30
    episodes_per_epoch: int = 60
    length: int = 256  # jobs of an episode
    windows: int = 192  # to draw episodes from
    environments: int = 30  # played side by side
    estimates: str = "predicted"
    objective: str = USUAL_TEXT  # what is wanted, by weight
    promises: str = ""  # to be kept against Slurm's own order: size_p95=10%
    ppo: PpoConfig = PpoConfig(actor_rate=1e-3)  # noqa: RUF009 - it is frozen
    validate_every: int = 3  # epochs
    patience: int = 4  # validations without improvement
    longest: int = LONGEST  # jobs that choice and gate measure at most, at each load
    seed: int = 0

    def __post_init__(self) -> None:
        refuse_unlearnt("selector-allocator", aim_of(self.objective))
        promised_tail(self.promises)
        for name in (
            "imitated", "imitation_passes", "epochs", "episodes_per_epoch", "length", "windows",
            "environments", "validate_every", "patience", "batch", "replays", "replay_length",
        ):  # fmt: skip
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} is {getattr(self, name)}, expected 1 or more")
        if self.search_epochs < 0 or self.population < 4:
            raise ConfigError(
                f"search_epochs is {self.search_epochs} and population {self.population}, expected "
                "0 or more, and 4 or more"
            )
        if self.seed < 0:
            raise ConfigError(f"seed is {self.seed}, expected 0 or more")
        if LEARNED not in (self.selector, self.allocator):
            raise ConfigError("neither the selector nor the allocator learns; use --agent choice")
        # Looking each part up is the check: an unknown name answers "did you mean".
        if self.selector not in (LEARNED, FROZEN):
            _ = ORDERINGS[self.selector]
        if self.allocator not in (LEARNED, FROZEN):
            _ = PLACEMENTS[self.allocator]
        _ = self.weights

    @property
    def weights(self) -> RewardWeights:
        """Of the shared reward: as the objective says, or as is set here, not both."""
        own = RewardWeights(self.wait, self.turnaround, self.bsld, self.utilisation)
        aim = aim_of(self.objective)
        if aim == USUAL:
            return own
        if own != RewardWeights(0.5, 0.0, 0.5, 0.0):
            raise ConfigError(
                f"objective is {self.objective!r}, and the weights of the reward (wait, "
                "turnaround, bsld, utilisation) are set, too: give one of them"
            )
        whole = aim.wait + aim.slowdown
        return RewardWeights(aim.wait / whole, 0.0, aim.slowdown / whole, 0.0)

    @property
    def asked(self) -> tuple[str, ...]:
        """The agents; a heuristic is not asked."""
        halves = ((SELECTOR, self.selector), (ALLOCATOR, self.allocator))
        return tuple(name for name, how in halves if how in (LEARNED, FROZEN))
