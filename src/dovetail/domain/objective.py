"""What an operator wants: mean wait, slowdown, tail, makespan and utilisation, each with a weight.

>>> objective = Objective.parse("wait=1, tail=0.5")
>>> slurm = {"wait_mean": 100.0, "wait_p95": 400.0}
>>> round(objective.cost(slurm, {"wait_mean": 50.0, "wait_p95": 400.0}), 3)
-0.456
>>> objective.improvement(slurm, slurm)
0.0
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from dovetail.domain.errors import ConfigError

MEASURED = {
    "wait": "wait_mean",
    "slowdown": "bsld_mean",
    "tail": "wait_p95",
    "makespan": "makespan",
    "utilisation": "gpu_utilization",
}
"""The keys of `summary` behind the words."""

SHORTEST = 1.0
"""Seconds added to waits: a wait of nothing is not infinitely better than one of a second."""


@dataclass(frozen=True, slots=True)
class Objective:
    """Weights; what has none is not looked at."""

    wait: float = 1.0  # mean wait
    slowdown: float = 0.0  # mean bounded slowdown
    tail: float = 0.0  # 95th percentile of waits
    makespan: float = 0.0  # from the first submission to the last end
    utilisation: float = 0.0  # of all GPU time

    def __post_init__(self) -> None:
        for key, value in asdict(self).items():
            if not (math.isfinite(value) and value >= 0):
                raise ConfigError(f"objective {key} is {value}, expected 0 or more")
        if not any(asdict(self).values()):
            raise ConfigError("the objective has no weight above 0: nothing is wanted")

    @classmethod
    def parse(cls, text: str) -> Objective:
        """From `wait=1,tail=0.5` or `wait`; what is not named has no weight."""
        weights = dict.fromkeys(MEASURED, 0.0)
        for part in filter(None, (piece.strip() for piece in text.split(","))):
            key, sign, value = (piece.strip() for piece in part.partition("="))
            if key not in weights:
                raise ConfigError(f"no objective {key!r}; known are {', '.join(MEASURED)}")
            try:
                weights[key] = float(value) if sign else 1.0
            except ValueError:
                raise ConfigError(f"objective {part!r}, expected {key}=WEIGHT") from None
        return cls(**weights)

    def __str__(self) -> str:
        """As `parse` reads it."""
        return ",".join(f"{key}={value:g}" for key, value in asdict(self).items() if value)

    def cost(self, baseline: Mapping[str, float], candidate: Mapping[str, float]) -> float:
        """Weighted mean of the logarithms of ratios to the baseline; below 0: better than it.

        Both are as `summary` gives them. Ratios, so that seconds and shares can be added, and
        logarithms, so that halving and doubling weigh the same.
        """
        weights = asdict(self)
        terms = [
            weight * _log_ratio(key, baseline[MEASURED[key]], candidate[MEASURED[key]])
            for key, weight in weights.items()
            if weight > 0
        ]
        return math.fsum(terms) / math.fsum(weights.values())

    def changes(
        self, baseline: Mapping[str, float], candidate: Mapping[str, float]
    ) -> dict[str, float]:
        """What is weighed, each by what part it grew: 0.1, ten per cent more."""
        found = {}
        for key, weight in asdict(self).items():
            if weight > 0:
                ratio = _log_ratio(key, baseline[MEASURED[key]], candidate[MEASURED[key]])
                found[key] = math.expm1(-ratio if key == "utilisation" else ratio)
        return found

    def improvement(self, baseline: Mapping[str, float], candidate: Mapping[str, float]) -> float:
        """By what part the candidate is better: 0.3, thirty per cent; below 0, worse."""
        return 1.0 - math.exp(self.cost(baseline, candidate))


def _log_ratio(key: str, before: float, after: float) -> float:
    if key == "utilisation":
        return math.log(max(before, 1e-9) / max(after, 1e-9))
    floor = SHORTEST if key in ("wait", "tail") else 0.0
    return math.log(max(after + floor, 1e-9) / max(before + floor, 1e-9))
