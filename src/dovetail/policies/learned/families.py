"""What can be learned: a family turns a vector of numbers into a policy.

family = FAMILIES["index"]
ordering, placement = family.policy(family.start, "untrained")
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import astuple, dataclass
from typing import NamedTuple

import numpy as np

from dovetail.domain.errors import ConfigError
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


@dataclass(frozen=True, slots=True)
class PlacementWeights:
    """What the lifetime placement weighs besides free GPUs."""

    place_later: float = 0.0
    place_sooner: float = 0.0


INDEX_START = (
    IndexWeights(gpus=1.5, fits=1.0, keep=3.0, keep_idle=5.0),
    PlacementWeights(place_later=1.0),
)
"""Round numbers, chosen by hand while looking at three real traces (docs/decisions/0009)."""

INDEX_SCALE = (
    IndexWeights(
        gpus=0.2, nodes=0.2, whole=0.3, wait=0.1, slowdown=0.1, fits=0.5, opens=0.5,
        gate=0.7, gate_estimate=0.3, gate_gpus=0.3,
        keep=1.0, keep_idle=2.0, keep_from=0.7, keep_span=0.5, patience=8.0,
    ),
    PlacementWeights(place_later=0.4, place_sooner=0.1),
)  # fmt: skip

SHORTEST_SPAN = 0.05


def index_policy(vector: Floats, name: str) -> Learned:
    """An index policy, and the placement by lifetime that was learned with it."""
    expected = len(NAMES) + 2
    if vector.shape != (expected,) or not np.all(np.isfinite(vector)):
        raise ConfigError(f"{name}: expected {expected} finite weights, got shape {vector.shape}")
    values = dict(zip(NAMES, vector.tolist(), strict=False))
    values["keep_span"] = max(SHORTEST_SPAN, values["keep_span"])
    weights = np.array([1.0, *vector[len(NAMES) :]])
    placement = Placement("lifetime", lifetime, uses_time=True, weights=weights)
    return Learned(index(IndexWeights(**values), name), placement)


def network_policy(vector: Floats, name: str) -> Learned:
    """The network over all seventeen features, with best-fit."""
    return Learned(learned(vector, name), PLACEMENTS["best-fit"])


def _flat(parts: tuple[IndexWeights, PlacementWeights]) -> Floats:
    return np.array([number for part in parts for number in astuple(part)])


FAMILIES: Registry[Family] = Registry(
    "family",
    {
        "index": Family("index", _flat(INDEX_START), _flat(INDEX_SCALE), index_policy),
        "network": Family("network", untrained(0), np.full(len(untrained(0)), 0.1), network_policy),
    },
)
