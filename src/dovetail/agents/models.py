"""Kinds of trained models: each turns the arrays of a checkpoint into an ordering."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dovetail.domain.errors import ConfigError
from dovetail.domain.policy import Ordering
from dovetail.domain.registry import Registry
from dovetail.policies.features import FEATURES
from dovetail.policies.ordering.kernel_network import kernel_network
from dovetail.policies.ordering.learned import learned

Arrays = Mapping[str, NDArray[Any]]


def evolved_arrays(weights: NDArray[np.float64]) -> dict[str, NDArray[Any]]:
    """What a checkpoint stores of an evolved network."""
    return {"weights": np.array(weights, np.float64), "features": np.array(FEATURES)}


def evolved(arrays: Arrays, name: str) -> Ordering:
    """A network that corrects the order of SAF and decides which jobs may be backfilled.

    It is applied to every waiting job: 17 features, hidden layers of 16 and 8, two outputs.
    """
    if tuple(arrays.get("features", np.empty(0)).tolist()) != FEATURES:
        raise ConfigError(f"{name}: was trained on other features; train it again")
    weights = arrays.get("weights", np.empty(0))
    if not np.issubdtype(weights.dtype, np.floating):
        raise ConfigError(f"{name}: weights are not numbers; train it again")
    return learned(weights.astype(np.float64), name)


def rltune(arrays: Arrays, name: str) -> Ordering:
    """A kernel network that gives each waiting job a priority, and declining one of its own."""
    return kernel_network(arrays, name)


MODELS: Registry[Callable[[Arrays, str], Ordering]] = Registry(
    "kind of model", {"evolution": evolved, "rltune": rltune}
)
