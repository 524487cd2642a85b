"""A selector and an allocator that were trained together, each a network or a known heuristic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from numpy.typing import NDArray

from dovetail.domain.errors import ConfigError
from dovetail.domain.policy import Ordering, Placement
from dovetail.policies.learned.families import Learned
from dovetail.policies.ordering import ORDERINGS
from dovetail.policies.ordering.selector import selector
from dovetail.policies.placement import PLACEMENTS
from dovetail.policies.placement.allocator import allocator

Arrays = Mapping[str, NDArray[Any]]


def pair_policy(arrays: Arrays, name: str) -> Learned:
    """Networks from arrays that begin with `selector_` and `allocator_`; names stand for others."""
    return Learned(_ordering(arrays, name), _placement(arrays, name))


def _ordering(arrays: Arrays, name: str) -> Ordering:
    if "order" not in arrays:
        return selector(_half(arrays, "selector_"), name)
    order = str(arrays["order"])
    if order not in ORDERINGS:
        raise ConfigError(f"{name}: orders by {order[:40]!r}, which is not known here")
    return replace(ORDERINGS[order], name=name)


def _placement(arrays: Arrays, name: str) -> Placement:
    if "placement" not in arrays:
        return allocator(_half(arrays, "allocator_"), name)
    placement = str(arrays["placement"])
    if placement not in PLACEMENTS:
        raise ConfigError(f"{name}: places by {placement[:40]!r}, which is not known here")
    return PLACEMENTS[placement]


def _half(arrays: Arrays, prefix: str) -> Arrays:
    return {n.removeprefix(prefix): part for n, part in arrays.items() if n.startswith(prefix)}
