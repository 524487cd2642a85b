"""The ordering of a trained kernel network: each waiting job gets a logit, the highest goes first.

    logit = narrow network of the selected features + a linear skip from them

A job whose logit is below that of "decline" may not pass a reserved one. Which features are
selected comes with the weights, so that one compiled function serves every selection.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dovetail.compiled.functions import kernel
from dovetail.domain.errors import ConfigError
from dovetail.domain.jobs import Floats, Ints
from dovetail.domain.policy import (
    AccountRows,
    ClusterRow,
    DemandRows,
    JobRows,
    Ordering,
    Varies,
    scoring,
)
from dovetail.policies.features import EVERY_FEATURE, FEATURES, describe_forecasts, describe_jobs
from dovetail.policies.ordering.learned import BLOCK, layer, rectify, spare_exempt
from dovetail.policies.selections import SITUATIONS, select
from dovetail.policies.weights import flat_weights

WIDE, MIDDLE, NARROW = 32, 16, 8
"""Units of the hidden layers."""


@kernel
def write_logits(
    p: Floats, jobs: JobRows, accounts: AccountRows, demands: DemandRows, cluster: ClusterRow,
    rows: Ints, out: Floats,
) -> None:  # fmt: skip
    """The logit of each job; `p` as `network_weights` makes it."""
    width = int(p[0])
    weights = p[1 + SITUATIONS * width :]
    table = p[1 : 1 + SITUATIONS * width].reshape((SITUATIONS, width))
    features, given = np.empty((len(EVERY_FEATURE), BLOCK)), np.empty((width, BLOCK))
    wide, middle = np.empty((WIDE, BLOCK)), np.empty((MIDDLE, BLOCK))
    narrow, logit = np.empty((NARROW, BLOCK)), np.empty((1, BLOCK))
    skip = np.empty((1, BLOCK))
    # Of a network that is still its linear start nothing else is to be worked out.
    last = len(weights) - width - 2  # where the skip begins; one bias and "decline" end the row
    linear = not np.any(weights[last - NARROW - 1 : last - 1])
    forecasts = table.max() >= len(FEATURES)
    for begin in range(0, len(rows), BLOCK):
        count = min(BLOCK, len(rows) - begin)
        block = rows[begin : begin + count]
        describe_jobs(jobs, accounts, demands, cluster, block, features)
        if forecasts:
            describe_forecasts(jobs, cluster, block, features)
        select(table, features, cluster[0].fragmentation, count, given.T)
        if linear:
            logit[0, :count] = weights[last - 1]
        else:
            first = layer(weights, 0, given, wide, count)
            rectify(wide, count)
            first = layer(weights, first, wide, middle, count)
            rectify(middle, count)
            first = layer(weights, first, middle, narrow, count)
            rectify(narrow, count)
            layer(weights, first, narrow, logit, count)
        layer(weights, last, given, skip, count)
        for i in range(count):
            out[begin + i] = logit[0, i] + skip[0, i]


@scoring
def _kernel_network(
    p: Floats, jobs: JobRows, accounts: AccountRows, demands: DemandRows, cluster: ClusterRow,
    rows: Ints, out: Floats, gate: Floats, keep: Floats,
) -> None:  # fmt: skip
    write_logits(p, jobs, accounts, demands, cluster, rows, out)
    decline = p[len(p) - 1]
    for i in range(len(rows)):
        gate[i] = out[i] - decline
        out[i] = -out[i]
    spare_exempt(jobs, rows, out, gate)


def shapes(width: int) -> dict[str, tuple[int, ...]]:
    """The arrays of a network in the order of its weights; a layer ends with its biases."""
    return {
        "wide": (width + 1, WIDE),
        "middle": (WIDE + 1, MIDDLE),
        "narrow": (MIDDLE + 1, NARROW),
        "logit": (NARROW + 1, 1),
        "skip": (width + 1, 1),
        "decline": (1,),
    }


def kernel_network(arrays: Mapping[str, NDArray[Any]], name: str) -> Ordering:
    """An ordering from arrays as in `shapes`, and `features`: names [situations, width]."""
    weights = network_weights(arrays, name)
    return Ordering(name, _kernel_network, Varies.ALWAYS, uses_state=True, weights=weights)


def network_weights(arrays: Mapping[str, NDArray[Any]], name: str) -> Floats:
    """All numbers of a network in a row, checked."""
    table = _table(arrays.get("features", np.empty(0)), name)
    width = table.shape[1]
    return np.concatenate(
        ([float(width)], table.ravel(), flat_weights(arrays, shapes(width), name))
    )


def _fits(situations: int, width: int) -> bool:
    return situations == SITUATIONS and 0 < width <= len(EVERY_FEATURE)


def _table(names: NDArray[Any], name: str) -> Floats:
    """The features of each situation as rows of EVERY_FEATURE."""
    if names.dtype.kind != "U" or names.ndim != 2 or not _fits(*names.shape):
        raise ConfigError(f"{name}: no table of features for {SITUATIONS} situations")
    unknown = sorted(set(names.ravel().tolist()) - set(EVERY_FEATURE))
    if unknown:
        raise ConfigError(f"{name}: was trained on other features ({unknown[0]}); train it again")
    return np.array([[EVERY_FEATURE.index(n) for n in row] for row in names.tolist()], np.float64)
