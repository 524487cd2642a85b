"""The configuration of the selector and the allocator's environment."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from dovetail.domain.errors import ConfigError
from dovetail.domain.policy import Ordering, Placement
from dovetail.envs.config import scored_anew
from dovetail.envs.selector_allocator.reward import RewardWeights
from dovetail.envs.windows import Generator, SyntheticWindows
from dovetail.policies.placement import PLACEMENTS

SELECTOR, ALLOCATOR = "selector", "allocator"
AGENT_NAMES = (SELECTOR, ALLOCATOR)


def mixed_windows() -> SyntheticWindows:
    """A congested partition of ten nodes of two types."""
    return SyntheticWindows(
        cluster="6x8:v100,4x4:p100", jobs=3000, load=1.0, length=128, estimates="noisy:1"
    )


@dataclass(frozen=True, slots=True)
class SelectorAllocatorConfig:
    """The base pair stands in for an agent that is not asked, and is what rewards compare with."""

    windows: Generator = field(default_factory=mixed_windows)
    order: str = "saf"  # of the base pair, with EASY backfilling; jobs are shown in this order
    placement: str = "best-fit"  # of the base pair; classes of nodes are shown in this order
    asked: tuple[str, ...] = AGENT_NAMES
    weights: RewardWeights = RewardWeights()  # noqa: RUF009 - it is frozen
    pool: int = 64  # windows that are kept ready; every episode is one of them
    seed: int = 0  # of the pool
    calm: float = 1.0  # seconds of mean wait under the base pair below which a window is left out

    def __post_init__(self) -> None:
        if self.pool < 1:
            raise ConfigError(f"pool is {self.pool}, expected 1 or more windows")
        if self.seed < 0:
            raise ConfigError(f"seed is {self.seed}, expected 0 or more")
        if not self.asked or set(self.asked) - set(AGENT_NAMES):
            raise ConfigError(f"asked is {self.asked!r}, expected one or both of {AGENT_NAMES}")
        _ = self.base  # an unknown name answers "did you mean"
        if self.place.optimiser is not None or self.place.rank is not None:
            raise ConfigError(
                f"placement {self.placement} plans or ranks; the base pair's prefers nodes one by "
                "one, such as best-fit"
            )

    def __deepcopy__(self, memo: Any) -> SelectorAllocatorConfig:
        return self  # nothing here changes

    @property
    def base(self) -> Ordering:
        """The base pair's order."""
        return scored_anew(self.order)

    @property
    def place(self) -> Placement:
        return PLACEMENTS[self.placement]
