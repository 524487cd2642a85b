"""Whether what a model was trained on is still what it sees: a distance, and a verdict in words.

What training saw is kept as shares of a few bins per column, and so is by how much its own parts
differed from each other. Bursts and weekends differ in every history: only what goes beyond them
is drift. The distance is the population stability index, 0 for equal shares.

>>> import numpy as np
>>> random = np.random.default_rng(0)
>>> seen = DriftReference.of({"gpus": random.normal(0, 1, 4000)})
>>> seen.compare({"gpus": random.normal(0, 1, 1000)}).verdict.value
'as in training'
>>> seen.compare({"gpus": random.normal(2, 1, 1000)}).sentence()
'drifted: gpus differs by 3.31 (up to 0.02 within training)'
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from dovetail.domain.errors import ConfigError
from dovetail.domain.jobs import Floats, Jobs

BINS = 10
PARTS = 8
"""Of the training's time: weeks of two months, days of a week."""

SLIGHT, STRONG = 0.1, 0.25
"""The usual marks of the index; smaller differences change no model's behaviour."""

BEYOND = 1.5
"""Times what training showed within itself."""

FEWEST = 50
"""Rows below which nothing is said."""


class DriftVerdict(Enum):
    """In words."""

    SAME = "as in training"
    SHIFTING = "shifting"
    DRIFTED = "drifted"
    UNKNOWN = "too little seen"


@dataclass(frozen=True, slots=True)
class ColumnDrift:
    """How far one column is from training; `usual` is the most that parts of training were."""

    distance: float
    usual: float

    @property
    def verdict(self) -> DriftVerdict:
        if math.isnan(self.distance):
            return DriftVerdict.UNKNOWN
        if self.distance > max(STRONG, BEYOND * self.usual):
            return DriftVerdict.DRIFTED
        if self.distance > max(SLIGHT, self.usual):
            return DriftVerdict.SHIFTING
        return DriftVerdict.SAME


@dataclass(frozen=True, slots=True)
class Drift:
    """All columns of a model's input, now against training."""

    columns: Mapping[str, ColumnDrift]

    @property
    def verdict(self) -> DriftVerdict:
        """Of the column that is worst off."""
        found = [column.verdict for column in self.columns.values()]
        for verdict in (DriftVerdict.DRIFTED, DriftVerdict.SHIFTING, DriftVerdict.SAME):
            if verdict in found:
                return verdict
        return DriftVerdict.UNKNOWN

    @property
    def distance(self) -> float:
        """Of the worst column, as a metric; NaN: nothing known."""
        known = [c.distance for c in self.columns.values() if not math.isnan(c.distance)]
        return max(known, default=math.nan)

    def sentence(self) -> str:
        verdict = self.verdict
        if verdict in (DriftVerdict.SAME, DriftVerdict.UNKNOWN):
            return str(verdict.value)
        parts = [
            f"{name} differs by {column.distance:.2f} (up to {column.usual:.2f} within training)"
            for name, column in self.columns.items()
            if column.verdict is verdict
        ]
        return f"{verdict.value}: {', '.join(parts)}"


@dataclass(frozen=True, slots=True)
class _Column:
    edges: Floats  # inner bounds of the bins, ascending
    shares: Floats  # of training, one more than edges
    usual: float


class DriftReference:
    """What a training saw; a model keeps it in its card."""

    def __init__(self, columns: Mapping[str, _Column]) -> None:
        self._columns = dict(columns)

    @classmethod
    def of(cls, columns: Mapping[str, Floats]) -> DriftReference:
        """From training's rows in order of time; NaN is passed over."""
        return cls({name: _summarise(values) for name, values in columns.items()})

    def compare(self, columns: Mapping[str, Floats]) -> Drift:
        """Recent rows against training; a column that is not given counts as not known."""
        found = {}
        for name, column in self._columns.items():
            recent = _known(columns.get(name, np.empty(0)))
            distance = math.nan
            if len(recent) >= FEWEST:
                distance = _distance(_shares(recent, column.edges), column.shares)
            found[name] = ColumnDrift(distance, column.usual)
        return Drift(found)

    def to_dict(self) -> dict[str, Any]:
        return {
            name: {"edges": c.edges.tolist(), "shares": c.shares.tolist(), "usual": c.usual}
            for name, c in self._columns.items()
        }

    @classmethod
    def from_dict(cls, found: Any) -> DriftReference:
        """From a card; whatever is wrong with it is a ConfigError."""
        try:
            columns = {
                str(name): _Column(
                    np.array(part["edges"], float), np.array(part["shares"], float),
                    float(part["usual"]),
                )
                for name, part in found.items()
            }  # fmt: skip
        except (AttributeError, KeyError, TypeError, ValueError) as problem:
            raise ConfigError(f"the training's reference cannot be read: {problem!r}") from problem
        for name, column in columns.items():
            good = column.edges.ndim == 1 and column.shares.shape == (len(column.edges) + 1,)
            if not good or not np.all(np.isfinite(column.edges)) or not np.all(column.shares > 0):
                raise ConfigError(f"the training's reference of {name[:60]!r} makes no sense")
        return cls(columns)


def workload_columns(jobs: Jobs) -> dict[str, Floats]:
    """What of a trace moves schedules: sizes, lengths and arrivals, on a logarithmic scale."""
    gaps = np.diff(jobs.submit, prepend=jobs.submit[:1])
    return {
        "gpus": np.log2(jobs.gpus.astype(float)),
        "run": np.log(np.maximum(jobs.run, 1.0)),
        "limit": np.log(np.maximum(jobs.limit, 1.0)),
        "gap": np.log1p(np.maximum(gaps, 0.0)),
        "hour": (jobs.submit % 86_400.0) / 3600.0,
    }


def _summarise(values: Floats) -> _Column:
    known = _known(values)
    if len(known) == 0:
        return _Column(np.empty(0), np.ones(1), 0.0)
    # Bounds between values, so that equal values share a bin: columns are often whole numbers.
    quantiles = np.quantile(known, np.linspace(0, 1, BINS + 1)[1:-1], method="inverted_cdf")
    edges = np.unique(quantiles)
    shares = _shares(known, edges)
    parts = np.array_split(known, PARTS)
    usual = [_distance(_shares(part, edges), shares) for part in parts if len(part) >= FEWEST]
    return _Column(edges, shares, max(usual, default=0.0))


def _shares(values: Floats, edges: Floats) -> Floats:
    counts = np.bincount(np.searchsorted(edges, values, side="left"), minlength=len(edges) + 1)
    # Half a row in every bin: one that training never saw must not make the distance infinite.
    shares: Floats = ((counts + 0.5) / (len(values) + 0.5 * len(counts))).astype(np.float64)
    return shares


def _distance(a: Floats, b: Floats) -> float:
    return float(np.sum((a - b) * np.log(a / b)))


def _known(values: Floats) -> Floats:
    found: Floats = values[np.isfinite(values)]
    return found
