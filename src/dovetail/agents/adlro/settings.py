"""How ADLRO is trained for a site."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AdlroSettings:
    """What a training of a site depends on; stored with the checkpoint."""

    estimates: str = "predicted"  # what the policy is told of run times when it is used
    steps: int = 200_000  # decisions
    jobs: int = 160  # of an episode
    load: float = 0.95
    noise: float = 0.5  # of estimates
    seed: int = 0
