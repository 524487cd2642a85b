"""Weights of a network from a checkpoint's arrays: checked by shape, one after the other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dovetail.domain.errors import ConfigError
from dovetail.domain.jobs import Floats


def flat_weights(
    arrays: Mapping[str, NDArray[Any]], shapes: Mapping[str, tuple[int, ...]], name: str
) -> Floats:
    """The arrays of these shapes in a row; `name` is the network's, for errors."""
    parts: list[Floats] = []
    for part, shape in shapes.items():
        found = arrays.get(part, np.empty(0))
        if found.shape != shape or not np.issubdtype(found.dtype, np.floating):
            raise ConfigError(
                f"{name}: weights {part!r} have shape {found.shape}, expected numbers of {shape}"
            )
        if not np.all(np.isfinite(found)):
            raise ConfigError(f"{name}: weights {part!r} are not all finite; train it again")
        parts.append(found.ravel())
    return np.concatenate(parts).astype(np.float64)
