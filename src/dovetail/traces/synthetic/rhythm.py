"""Day and night: the map between busy seconds, in which arrivals are even, and the clock."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dovetail.domain.errors import ConfigError
from dovetail.domain.jobs import Floats

HOUR = 3600.0
DAY = 24 * HOUR


@dataclass(frozen=True, slots=True)
class Rhythm:
    """How busy each slot of a repeating period is, relative to the others.

    A busy second passes in one clock second at the average rate, sooner when the slot is
    busier. Time 0 is Monday, midnight.
    """

    weights: tuple[float, ...]
    slot: float = HOUR  # seconds

    def __post_init__(self) -> None:
        if not self.weights or not all(0 < weight < math.inf for weight in self.weights):
            raise ConfigError("rhythm: every weight must be above 0; use a small one for a lull")

    def clock(self, busy: Floats) -> Floats:
        """Clock seconds at which these busy seconds have passed."""
        edges, passed = self._edges()
        periods, rest = np.divmod(busy, edges[-1])
        clock: Floats = periods * edges[-1] + np.interp(rest, passed, edges)
        return clock

    def busy(self, clock: float) -> float:
        """Busy seconds that have passed at this clock second."""
        edges, passed = self._edges()
        periods, rest = divmod(clock, float(edges[-1]))
        return periods * float(edges[-1]) + float(np.interp(rest, edges, passed))

    def _edges(self) -> tuple[Floats, Floats]:
        """Clock and busy seconds at the edges of the slots; both end with the period."""
        weights = np.asarray(self.weights)
        edges: Floats = self.slot * np.arange(len(weights) + 1, dtype=np.float64)
        passed = np.zeros(len(edges))
        passed[1:] = np.cumsum(weights) * (edges[-1] / weights.sum())
        passed[-1] = edges[-1]
        return edges, passed


def weekly(peak_hour: float, swing: float, weekend: float) -> Rhythm:
    """A cosine over the day, `swing` of 0 to below 1, with Saturday and Sunday scaled."""
    if not 0 <= swing < 1:
        raise ConfigError(f"swing is {swing}, expected 0 to below 1")
    day = [1 + swing * math.cos(2 * math.pi * (h + 0.5 - peak_hour) / 24) for h in range(24)]
    return Rhythm(tuple(day * 5 + [weekend * weight for weight in day] * 2))
