"""Numbers that a network can take: declared ranges to 0…1, or running statistics to about −5…5.

>>> import numpy as np
>>> statistics = RunningStatistics(1)
>>> statistics.update(np.array([[1.0], [np.nan], [3.0]]))
>>> statistics.mean.tolist(), statistics.count.tolist()
([2.0], [2.0])
>>> statistics.standardise(np.array([[2.0], [1e9], [np.nan]])).ravel().tolist()
[0.0, 5.0, 0.0]
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dovetail.domain.errors import ConfigError
from dovetail.domain.jobs import Bools, Floats
from dovetail.telemetry.check import HIGH, LOW
from dovetail.telemetry.readings import Readings

MOST = 5.0
"""Standard deviations at which standardised values are clipped."""


class Normalised(NamedTuple):
    """Values in 0…1, and which of them are known; what is not known stands at 0."""

    values: NDArray[np.float32]  # [GPUs, quantities]
    known: Bools  # [GPUs, quantities]


def normalise(readings: Readings) -> Normalised:
    """By declared ranges alone, so that a value means the same today and in a year."""
    known = ~np.isnan(readings.values)
    share = np.clip((readings.values - LOW) / (HIGH - LOW), 0.0, 1.0)
    return Normalised(np.where(known, share, 0.0).astype(np.float32), known)


class RunningStatistics:
    """Mean and spread of columns, batch by batch, without keeping them (Chan's formula)."""

    def __init__(self, columns: int) -> None:
        self.count: Floats = np.zeros(columns)
        self.mean: Floats = np.zeros(columns)
        self.squares: Floats = np.zeros(columns)  # sum of squared differences from the mean

    def update(self, values: Floats) -> None:
        """Take in rows; NaN and infinity are passed over."""
        known = np.isfinite(values)
        count = known.sum(axis=0).astype(float)
        safe = np.maximum(count, 1.0)
        mean = np.where(known, values, 0.0).sum(axis=0) / safe
        squares = np.where(known, (values - mean) ** 2, 0.0).sum(axis=0)
        total = self.count + count
        weight = count / np.maximum(total, 1.0)
        apart = mean - self.mean
        self.mean = self.mean + apart * weight
        self.squares = self.squares + squares + apart**2 * self.count * weight
        self.count = total

    @property
    def deviation(self) -> Floats:
        spread: Floats = np.sqrt(self.squares / np.maximum(self.count - 1.0, 1.0))
        return spread

    def standardise(self, values: Floats) -> Floats:
        """In standard deviations from the mean, clipped; what is not known stands at 0."""
        spread = np.where(self.deviation > 0.0, self.deviation, 1.0)
        scaled: Floats = np.clip((values - self.mean) / spread, -MOST, MOST)
        return np.where(np.isnan(scaled), 0.0, scaled)

    def to_dict(self) -> dict[str, list[float]]:
        return {
            "count": self.count.tolist(),
            "mean": self.mean.tolist(),
            "squares": self.squares.tolist(),
        }

    @classmethod
    def from_dict(cls, found: Any) -> RunningStatistics:
        """From a card; whatever is wrong with it is a ConfigError."""
        try:
            parts = [np.array(found[key], float) for key in ("count", "mean", "squares")]
        except (KeyError, TypeError, ValueError) as problem:
            raise ConfigError(f"statistics cannot be read: {problem!r}") from problem
        shapes = {part.shape for part in parts}
        good = len(shapes) == 1 and all(np.isfinite(part).all() for part in parts)
        if not good or parts[0].ndim != 1 or (parts[0] < 0).any() or (parts[2] < 0).any():
            raise ConfigError("statistics need equally many finite counts, means and squares")
        statistics = cls(len(parts[0]))
        statistics.count, statistics.mean, statistics.squares = parts
        return statistics
