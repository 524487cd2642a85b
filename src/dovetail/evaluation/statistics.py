"""How sure a difference is: paired bootstrap intervals and geometric means of ratios."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dovetail.domain.errors import ConfigError
from dovetail.domain.jobs import Floats

RESAMPLES = 10_000
"""Ends of a 95 % interval then vary by about 1 % of its width between seeds."""

BLOCK = 1 << 20
"""Drawn rows held at a time: 8 MB, whatever the number of windows."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A value and the interval that holds it with the given confidence; NaN: not known."""

    value: float
    low: float
    high: float
    confidence: float

    def __str__(self) -> str:
        if math.isnan(self.low):
            return "–" if math.isnan(self.value) else f"{self.value:.3g}"
        return f"{self.value:.3g} [{self.low:.3g}, {self.high:.3g}]"


def difference_of_means(
    ours: ArrayLike, theirs: ArrayLike, confidence: float = 0.95, seed: int = 0
) -> Interval:
    """mean(ours) − mean(theirs), over pairs: the same window or job under two policies.

    >>> difference_of_means([1, 3], [2, 4])
    Interval(value=-1.0, low=-1.0, high=-1.0, confidence=0.95)
    """
    return _bootstrap(ours, theirs, np.subtract, confidence, seed)


def ratio_of_means(
    ours: ArrayLike, theirs: ArrayLike, confidence: float = 0.95, seed: int = 0
) -> Interval:
    """mean(ours) / mean(theirs), over pairs.

    Where a resample may well hold only zeros of theirs, the interval is not known.
    """
    return _bootstrap(ours, theirs, _divide, confidence, seed)


def geometric_mean_ratio(ours: ArrayLike, theirs: ArrayLike) -> float:
    """The typical factor between pairs, in which no single large window counts for all.

    >>> geometric_mean_ratio([1, 8], [2, 4])
    1.0
    """
    a, b = _pairs(ours, theirs)
    if not (np.all(a > 0) and np.all(b > 0)):
        raise ConfigError("a geometric mean needs values above 0; compare slowdowns, not waits")
    return float(np.exp(np.mean(np.log(a / b))))


def _bootstrap(
    ours: ArrayLike,
    theirs: ArrayLike,
    between: Callable[[Floats, Floats], Floats],
    confidence: float,
    seed: int,
) -> Interval:
    """Draw pairs with replacement; the interval holds the middle share of what comes out."""
    a, b = _pairs(ours, theirs)
    if not 0 < confidence < 1:
        raise ConfigError(f"confidence is {confidence}, expected between 0 and 1")
    random = np.random.Generator(np.random.PCG64(seed))
    at_once = max(1, BLOCK // len(a))
    drawn = []
    for first in range(0, RESAMPLES, at_once):
        rows = random.integers(0, len(a), (min(at_once, RESAMPLES - first), len(a)))
        drawn.append(between(a[rows].mean(axis=1), b[rows].mean(axis=1)))
    tail = 50.0 * (1.0 - confidence)
    low, high = np.percentile(np.concatenate(drawn), [tail, 100.0 - tail]).tolist()
    value = between(a.mean(keepdims=True), b.mean(keepdims=True))
    return Interval(float(value[0]), low, high, confidence)


def _divide(a: Floats, b: Floats) -> Floats:
    ratio: Floats = np.divide(a, b, out=np.full(len(a), np.nan), where=b != 0)
    return ratio


def _pairs(ours: ArrayLike, theirs: ArrayLike) -> tuple[Floats, Floats]:
    a, b = np.asarray(ours, np.float64), np.asarray(theirs, np.float64)
    if a.ndim != 1 or a.shape != b.shape or len(a) == 0:
        raise ConfigError(f"pairs need equally many values, 1 or more: {a.shape} and {b.shape}")
    return a, b
