"""The placement of a trained network: each free slice gets a logit, the highest goes.

    placer = network_placer([(w1, b1), (w2, b2), (w3, b3)], name="learned")
    schedule = simulate_mig(day, cluster, placer)

Layers are ReLU except the last; w has shape [inputs, outputs]. One compiled function serves any
depth and width, since these come with the weights.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dovetail.domain.errors import ConfigError
from dovetail.domain.jobs import Floats
from dovetail.domain.mig_policy import Keys, MomentRow, Placer, SliceRows, ranking
from dovetail.policies.mig.features import SLICE_FEATURES, Matrix, describe_slices
from dovetail.policies.ordering.learned import layer, rectify


@ranking
def _network(p: Floats, moment: MomentRow, slices: SliceRows, keys: Keys) -> None:
    """p: decline, number of layers, their widths, then weights and biases layer by layer."""
    count, layers = len(slices), int(p[1])
    widest = len(SLICE_FEATURES)
    for i in range(layers):
        widest = max(widest, int(p[2 + i]))
    weights, first = p[2 + layers :], 0
    here, there = np.empty((widest, count)), np.empty((widest, count))
    describe_slices(moment, slices, here)
    inputs = len(SLICE_FEATURES)
    for i in range(layers):
        outputs = int(p[2 + i])
        first = layer(weights, first, here[:inputs], there[:outputs], count)
        if i < layers - 1:
            rectify(there[:outputs], count)
        here, there, inputs = there, here, outputs
    for i in range(count):
        keys[i, 0] = -here[0, i] if here[0, i] >= p[0] else np.inf


def network_placer(
    layers: Sequence[tuple[Matrix, Floats]], name: str, decline: float = -np.inf
) -> Placer:
    """A placer from weights and biases; slices with a logit below `decline` are never taken."""
    inputs, widths = len(SLICE_FEATURES), []
    parts: list[Floats] = []
    for number, (weights, biases) in enumerate(layers, start=1):
        if weights.shape != (inputs, len(biases)):
            raise ConfigError(
                f"{name}: layer {number} has weights of shape {weights.shape}, "
                f"expected ({inputs}, {len(biases)})"
            )
        if not (np.all(np.isfinite(weights)) and np.all(np.isfinite(biases))):
            raise ConfigError(f"{name}: weights of layer {number} are not finite; train it again")
        parts += [weights.astype(np.float64).ravel(), biases.astype(np.float64)]
        inputs = len(biases)
        widths.append(inputs)
    if inputs != 1 or not layers:
        raise ConfigError(f"{name}: the last layer has {inputs} outputs, expected 1")
    header = np.array([decline, len(layers), *widths], np.float64)
    return Placer(name, _network, weights=np.concatenate([header, *parts]))
