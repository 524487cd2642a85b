"""What can be learned: a family turns a vector of numbers into a policy.

family = FAMILIES["index"]
ordering, placement = family.policy(family.start, "untrained")
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import astuple, dataclass, fields
from typing import NamedTuple

import numpy as np

from dovetail.domain.errors import ConfigError
from dovetail.domain.estimates import FORECAST
from dovetail.domain.jobs import Floats
from dovetail.domain.policy import Ordering, Placement
from dovetail.domain.registry import Registry
from dovetail.policies.ordering.index import NAMES, IndexWeights, index
from dovetail.policies.ordering.learned import learned, untrained
from dovetail.policies.placement import PLACEMENTS
from dovetail.policies.placement.preferences import lifetime


class Learned(NamedTuple):
    """A policy that was learned."""

    ordering: Ordering
    placement: Placement


@dataclass(frozen=True, slots=True)
class Family:
    """A family of policies, one for each vector."""

    name: str
    start: Floats  # where the search begins
    scale: Floats  # by how much each number is varied at first
    policy: Callable[[Floats, str], Learned]
    terms: tuple[str, ...] = ()  # of an index: its weights, by name


@dataclass(frozen=True, slots=True)
class PlacementWeights:
    """What the lifetime placement weighs besides free GPUs."""

    place_later: float = 0.0
    place_sooner: float = 0.0


IndexParts = tuple[IndexWeights, PlacementWeights]

INDEX_START: IndexParts = (
    IndexWeights(gpus=1.5, fits=1.0, keep=3.0, keep_idle=5.0),
    PlacementWeights(place_later=1.0),
)
"""Round numbers, chosen by hand while looking at three real traces (docs/decisions/0009)."""

INDEX_SCALE: IndexParts = (
    IndexWeights(
        gpus=0.2, nodes=0.2, whole=0.3, wait=0.1, slowdown=0.1, fits=0.5, opens=0.5,
        gate=0.7, gate_estimate=0.3, gate_gpus=0.3,
        keep=1.0, keep_idle=2.0, keep_from=0.7, keep_span=0.5, patience=8.0,
        spread=0.3, skew=0.3, margin=0.3,
    ),
    PlacementWeights(place_later=0.4, place_sooner=0.1),
)  # fmt: skip

SHORTEST_SPAN = 0.05
USUAL = tuple(name for name in NAMES if name not in FORECAST)
"""Weights of the index that every vector has; those of forecasts, if any, end it."""


def index_policy(vector: Floats, name: str) -> Learned:
    """An index policy, and the placement by lifetime that was learned with it."""
    return _indexed(vector, name, USUAL)


def forecast_index_policy(vector: Floats, name: str) -> Learned:
    """The same with three more weights, of how sure a prediction is."""
    return _indexed(vector, name, USUAL + FORECAST)


def _indexed(vector: Floats, name: str, names: tuple[str, ...]) -> Learned:
    placed = len(USUAL), len(USUAL) + len(fields(PlacementWeights))
    expected = len(names) + len(fields(PlacementWeights))
    if vector.shape != (expected,) or not np.all(np.isfinite(vector)):
        raise ConfigError(f"{name}: expected {expected} finite weights, got shape {vector.shape}")
    own = np.delete(vector, slice(*placed))
    values = dict(zip(names, own.tolist(), strict=True))
    values["keep_span"] = max(SHORTEST_SPAN, values["keep_span"])
    weights = np.array([1.0, *vector[slice(*placed)]])
    placement = Placement("lifetime", lifetime, uses_time=True, weights=weights)
    return Learned(index(IndexWeights(**values), name), placement)


def network_policy(vector: Floats, name: str) -> Learned:
    """The network over all seventeen features, with best-fit."""
    return Learned(learned(vector, name), PLACEMENTS["best-fit"])


def index_vector(parts: IndexParts, names: tuple[str, ...] = USUAL) -> Floats:
    """The numbers of an index: usual weights, those of the placement, those of forecasts."""
    weights, placed = parts
    own = [getattr(weights, name) for name in names]
    return np.array([*own[: len(USUAL)], *astuple(placed), *own[len(USUAL) :]])


FAMILIES: Registry[Family] = Registry(
    "family",
    {
        "index": Family(
            "index", index_vector(INDEX_START), index_vector(INDEX_SCALE), index_policy, USUAL
        ),
        "forecast-index": Family(
            "forecast-index",
            index_vector(INDEX_START, USUAL + FORECAST),
            index_vector(INDEX_SCALE, USUAL + FORECAST),
            forecast_index_policy,
            USUAL + FORECAST,
        ),
        "network": Family("network", untrained(0), np.full(len(untrained(0)), 0.1), network_policy),
    },
)
