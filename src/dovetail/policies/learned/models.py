"""Kinds of trained models: each turns the arrays of a checkpoint into a policy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dovetail.domain.errors import ConfigError
from dovetail.domain.policy import Placement
from dovetail.domain.registry import Registry, functions
from dovetail.policies.learned.assigner import assigner_from
from dovetail.policies.learned.families import FAMILIES, Learned
from dovetail.policies.learned.pair import pair_policy
from dovetail.policies.ordering import ORDERINGS
from dovetail.policies.ordering.kernel_network import kernel_network
from dovetail.policies.placement import PLACEMENTS
from dovetail.policies.placement.preferences import best_fit

Arrays = Mapping[str, NDArray[Any]]


def index(arrays: Arrays, name: str) -> Learned:
    """An index of fifteen weighed terms orders the jobs; nodes are chosen by lifetime."""
    return FAMILIES["index"].policy(_vector(arrays, name), name)


def forecast_index(arrays: Arrays, name: str) -> Learned:
    """The same index with three more terms: how sure a prediction is, and how long its tail."""
    return FAMILIES["forecast-index"].policy(_vector(arrays, name), name)


def network(arrays: Arrays, name: str) -> Learned:
    """A network that corrects the order of SAF and decides which jobs may be backfilled.

    It is applied to every waiting job: 17 features, hidden layers of 16 and 8, two outputs.
    """
    return FAMILIES["network"].policy(_vector(arrays, name), name)


def rltune(arrays: Arrays, name: str) -> Learned:
    """A kernel network that gives each waiting job a priority, and declining one of its own."""
    return Learned(kernel_network(arrays, name), PLACEMENTS["best-fit"])


def selector_allocator(arrays: Arrays, name: str) -> Learned:
    """A selector admits jobs, an allocator picks classes of equal nodes; trained together."""
    return pair_policy(arrays, name)


def adlro(arrays: Arrays, name: str) -> Learned:
    """A network that puts jobs of one GPU on types of GPUs, or lets them wait; larger ones follow
    best-fit, all in order of arrival."""
    placement = Placement(
        "adlro", best_fit, assigner=assigner_from(arrays, name),
        about="a learned network gives jobs of one GPU the type that suits them, or lets them wait",
    )  # fmt: skip
    return Learned(replace(ORDERINGS["fcfs"], name=name), placement)


def choice(arrays: Arrays, name: str) -> Learned:
    """An ordering and a placement chosen among the known ones, with estimates that suit them."""
    order, placement = (str(arrays.get(part, "")) for part in ("order", "placement"))
    if order not in ORDERINGS or placement not in PLACEMENTS:
        raise ConfigError(
            f"{name}: chosen was {order[:40]!r} with {placement[:40]!r}, which is not known here; "
            "update Dovetail, or train it again"
        )
    return Learned(replace(ORDERINGS[order], name=name), PLACEMENTS[placement])


def _vector(arrays: Arrays, name: str) -> NDArray[np.float64]:
    weights = arrays.get("weights", np.empty(0))
    if weights.dtype.kind != "f":
        raise ConfigError(f"{name}: weights are not numbers; train it again")
    return weights.astype(np.float64)


MODELS: Registry[Callable[[Arrays, str], Learned]] = Registry(
    "kind of model",
    {
        "adlro": adlro,
        "choice": choice,
        "index": index,
        "forecast-index": forecast_index,
        "network": network,
        "rltune": rltune,
        "selector-allocator": selector_allocator,
    },
    group="dovetail.models",
    admit=functions,
)
