"""Values of putting a job on a type of GPU, by a small network in NumPy: what ADLRO leaves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dovetail.domain.errors import ConfigError
from dovetail.policies.learned.assignment_facts import (
    LATER,
    PAIR_FEATURES,
    RUN,
    WAIT_FEATURES,
    AssignmentFacts,
    AssignmentFeatures,
    Flags,
    Singles,
    describe_assignment,
)

HIDDEN = 32

PRIOR_LATER, PRIOR_RUN, PRIOR_WAIT = 2.0, 0.1, 0.7
"""What a value is before anything is learned: by how much later a job would end here than elsewhere
counts most, short jobs go first, and waiting is better than a loss of a third. Found on validation
episodes among eleven such sets; the network learns what to add."""

SHAPES = {
    "first": (PAIR_FEATURES + 1, HIDDEN),
    "second": (HIDDEN + 1, HIDDEN),
    "last": (HIDDEN + 1, 1),
    "wait": (WAIT_FEATURES + 1, HIDDEN),
    "wait_last": (HIDDEN + 1, 1),
}
"""The arrays of a network; each ends with its biases."""


class TypeChoice(NamedTuple):
    """A job and a type of GPU; both -1: wait."""

    job: int
    type: int


WAIT = TypeChoice(-1, -1)


def prior_of_pairs(features: AssignmentFeatures) -> Singles:
    """[..., jobs, types]: the value of each pair before learning."""
    pairs = features.pairs
    found: Singles = -PRIOR_LATER * pairs[..., LATER] - PRIOR_RUN * pairs[..., RUN]
    return found


class AssignmentNetwork:
    """Weights by name, as saved; `choose` decides."""

    def __init__(
        self, arrays: Mapping[str, NDArray[Any]], name: str = "assignment network"
    ) -> None:
        self._w: dict[str, Singles] = {}
        for part, shape in SHAPES.items():
            found = arrays.get(part, np.empty(0))
            if found.shape != shape or not np.issubdtype(found.dtype, np.floating):
                raise ConfigError(
                    f"{name}: weights {part!r} have shape {found.shape}, expected {shape}"
                )
            if not np.all(np.isfinite(found)):
                raise ConfigError(f"{name}: weights {part!r} are not all finite; train it again")
            self._w[part] = np.ascontiguousarray(found, np.float32)

    def values(self, features: AssignmentFeatures) -> tuple[Singles, Singles]:
        """[..., jobs, types] of starting, [...] of waiting; comparable within a decision."""
        hidden = self._layer(features.pairs, "first")
        hidden = self._layer(np.maximum(hidden, 0.0), "second")
        pairs = self._layer(np.maximum(hidden, 0.0), "last")[..., 0] + prior_of_pairs(features)
        waits = self._layer(np.maximum(self._layer(features.wait, "wait"), 0.0), "wait_last")
        return pairs, waits[..., 0] - PRIOR_WAIT

    def choose(
        self, facts: AssignmentFacts, may_wait: bool, room: Flags | None = None
    ) -> TypeChoice:
        """The best of one decision; waiting only where it may and is better than any start.

        room: [jobs, types] where jobs ask for more than a GPU: pairs that fit.
        """
        features = describe_assignment(facts)
        if room is not None:
            features = features._replace(valid=features.valid & room)
        pairs, wait = self.values(features)
        pairs = np.where(features.valid, pairs, -np.inf)
        best = int(pairs.argmax())
        job, number = divmod(best, pairs.shape[-1])
        may_wait = may_wait and bool(features.may_wait())
        if not np.isfinite(pairs[job, number]) or (may_wait and wait > pairs[job, number]):
            return WAIT
        return TypeChoice(job, number)

    def _layer(self, values: NDArray[Any], name: str) -> Singles:
        weights = self._w[name]
        found: Singles = values @ weights[:-1] + weights[-1]
        return found
