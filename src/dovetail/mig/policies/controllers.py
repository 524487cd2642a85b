"""Learned repartitioning: from the mean-field view of a cluster to one matrix for all GPUs.

    field = score_field(weights, "learned", stay=2.0)       # a row of numbers for each way
    field = matrix_field([(w1, b1), (w2, b2)], "published")
    schedule = simulate_mig(day, cluster, PLACERS["categorical-edf"], field)

| controller   | logits of the matrix                                                         |
|--------------|------------------------------------------------------------------------------|
| score_field  | what each way is worth now, less what it loses the more GPUs have it; staying |
|              | is worth something too. Linear: it can be read, and a search finds it        |
| matrix_field | the published one: a network with an output for each pair of ways            |
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dovetail.compiled.functions import kernel
from dovetail.domain.errors import ConfigError
from dovetail.domain.jobs import Floats
from dovetail.mig.mean_field import BINS, EXTRAS, MORE, MeanField, seen_by, steering

Matrix = NDArray[np.float64]

TOLD = ("always", "long", "past", *EXTRAS, *MORE)
"""By what a way is scored: 1, the shares of waiting jobs that run for 10 minutes on 7g or longer
and of those past their deadline, and what is seen besides distributions."""

LONG = 7
"""The first bin of the histogram of durations that counts as long."""


@kernel
def tell(seen: Floats, ways: int, out: Floats) -> None:
    """Condense what is seen to TOLD."""
    durations, left = seen[ways : ways + BINS], seen[ways + BINS : ways + 2 * BINS]
    out[0] = 1.0
    out[1] = durations[LONG:].sum()
    out[2] = left[0]
    out[3:] = seen[ways + 2 * BINS :]


@steering
def _scores(p: Floats, seen: Floats, out: Matrix) -> None:
    """p: what staying is worth; then for each way what crowding costs, and weights of TOLD."""
    ways, width = len(out), len(TOLD) + 1
    told = np.empty(len(TOLD))
    tell(seen, ways, told)
    for way in range(ways):
        first = 1 + way * width
        worth = -p[first] * seen[way]
        for i in range(len(told)):
            worth += p[first + 1 + i] * told[i]
        for row in range(ways):
            out[row, way] = worth
        out[way, way] += p[0]


@steering
def _network(p: Floats, seen: Floats, out: Matrix) -> None:
    """p: number of layers, their inputs and outputs, then weights and biases layer by layer."""
    layers = int(p[0])
    first = 2 + layers
    here = seen[: int(p[1])]
    for i in range(layers):
        inputs, outputs = int(p[1 + i]), int(p[2 + i])
        there = p[first + inputs * outputs : first + (inputs + 1) * outputs].copy()
        for k in range(inputs):
            for j in range(outputs):
                there[j] += here[k] * p[first + k * outputs + j]
        if i < layers - 1:
            for j in range(outputs):
                there[j] = np.tanh(there[j])
        first += (inputs + 1) * outputs
        here = there
    ways = len(out)
    for row in range(ways):
        for way in range(ways):
            out[row, way] = here[row * ways + way]


def score_field(
    weights: Matrix, name: str, stay: float, every: int = 5, likely: int = 3
) -> MeanField:
    """A controller that scores the ways; a row of weights [1 + TOLD] for each."""
    if weights.ndim != 2 or weights.shape[1] != 1 + len(TOLD):
        raise ConfigError(
            f"{name}: weights of shape {weights.shape}, expected {1 + len(TOLD)} for each way"
        )
    numbers = np.concatenate(([stay], weights.ravel())).astype(np.float64)
    _refuse_infinite(numbers, name)
    return MeanField(name, _scores, numbers, every, likely)


def matrix_field(
    layers: Sequence[tuple[Matrix, Floats]], name: str, every: int = 5, likely: int = 3
) -> MeanField:
    """The published controller from weights [inputs, outputs] and biases; tanh but for the last.

    It sees the first numbers only, as many as the first layer has inputs.
    """
    ways = round(len(layers[-1][1]) ** 0.5) if layers else 0
    sizes = [len(layers[0][0]) if layers else 0]
    for number, (weights, biases) in enumerate(layers, start=1):
        if weights.shape != (sizes[-1], len(biases)):
            raise ConfigError(
                f"{name}: layer {number} has weights of shape {weights.shape}, "
                f"expected ({sizes[-1]}, {len(biases)})"
            )
        sizes.append(len(biases))
    if ways == 0 or ways**2 != sizes[-1] or sizes[0] > seen_by(ways):
        raise ConfigError(f"{name}: layers {sizes} do not lead to a matrix over ways")
    parts = [part.ravel() for layer in layers for part in layer]
    numbers = np.concatenate(([len(layers)], sizes, *parts)).astype(np.float64)
    _refuse_infinite(numbers, name)
    return MeanField(name, _network, numbers, every, likely)


def _refuse_infinite(numbers: Floats, name: str) -> None:
    if not np.all(np.isfinite(numbers)):
        raise ConfigError(f"{name}: weights are not finite; train it again")
