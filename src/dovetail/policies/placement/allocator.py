"""The placement of a learned allocator: a small network ranks classes of equal nodes.

    logit = network of the features of a class + a linear skip from them; the highest is taken

The same network serves every class, so that their number and order do not matter.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numba import carray
from numpy.typing import NDArray

from dovetail.domain.errors import ConfigError
from dovetail.domain.node_classes import CLASSES, ranking
from dovetail.domain.policy import Placement
from dovetail.policies.node_features import NODE_FEATURES, describe_classes
from dovetail.policies.ordering.learned import layer, rectify
from dovetail.policies.placement.preferences import best_fit
from dovetail.policies.weights import flat_weights

INPUTS, WIDE, NARROW = len(NODE_FEATURES), 24, 12
"""Features, and units of the hidden layers."""

SHAPES = {
    "wide": (INPUTS + 1, WIDE),
    "narrow": (WIDE + 1, NARROW),
    "logit": (NARROW + 1, 1),
    "skip": (INPUTS + 1, 1),
}
"""The arrays of a network in the order of its weights; each ends with its biases."""

WEIGHTS = sum(rows * columns for rows, columns in SHAPES.values())


@ranking
def _allocator(parameters: Any, given: Any, count: int) -> None:
    weights, classes = carray(parameters, (WEIGHTS,)), carray(given, (count,))
    features, wide = np.empty((INPUTS, CLASSES)), np.empty((WIDE, CLASSES))
    narrow, logit = np.empty((NARROW, CLASSES)), np.empty((1, CLASSES))
    skip = np.empty((1, CLASSES))
    describe_classes(classes, count, features)
    first = layer(weights, 0, features, wide, count)
    rectify(wide, count)
    first = layer(weights, first, wide, narrow, count)
    rectify(narrow, count)
    first = layer(weights, first, narrow, logit, count)
    layer(weights, first, features, skip, count)
    for i in range(count):
        classes[i].preference = -(logit[0, i] + skip[0, i])


def allocator(arrays: Mapping[str, NDArray[Any]], name: str) -> Placement:
    """A placement from arrays as in SHAPES, and `node_features`: their names."""
    known = arrays.get("node_features", np.empty(0))
    if known.dtype.kind != "U" or known.tolist() != list(NODE_FEATURES):
        raise ConfigError(f"{name}: was trained on other facts of nodes; train it again")
    weights = flat_weights(arrays, SHAPES, name)
    return Placement(
        "allocator", best_fit, weights=weights, rank=_allocator,
        about="a learned allocator ranks classes of equal nodes",
    )  # fmt: skip
