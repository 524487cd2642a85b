"""A learned ordering: a small network corrects a heuristic, and may decline to backfill.

Every waiting job is scored by the same network (17 features, two hidden layers, two outputs).
The first output is added to the logarithm of GPUs x estimate, so that a network of zeros is SAF;
the second, the gate, keeps a job from passing a reserved one when it is negative.
"""

from __future__ import annotations

import math

import numpy as np

from dovetail.domain.compiled import kernel
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
from dovetail.policies.features import FEATURES, describe_job

INPUTS, HIDDEN, NARROW, OUTPUTS = len(FEATURES), 16, 8, 2
SHAPES = ((INPUTS + 1, HIDDEN), (HIDDEN + 1, NARROW), (NARROW + 1, OUTPUTS))
"""Weights of each layer, the last row its biases."""

WEIGHTS = sum(rows * columns for rows, columns in SHAPES)
ALWAYS_FIRST = -1e12
"""Below any learned score: where exempt jobs stand, in order of submission."""


@kernel
def layer(weights: Floats, first: int, into: int, given: Floats, out: Floats) -> int:
    """out = weights · given + biases, for one job; returns where the next layer begins."""
    count = len(given)
    for j in range(into):
        out[j] = weights[first + count * into + j]
    for i in range(count):
        value = given[i]
        at = first + i * into
        for j in range(into):
            out[j] += weights[at + j] * value
    return first + (count + 1) * into


@kernel
def rectify(values: Floats) -> None:
    for i in range(len(values)):
        values[i] = max(0.0, values[i])


@scoring
def _learned(
    p: Floats, jobs: JobRows, accounts: AccountRows, demands: DemandRows, cluster: ClusterRow,
    rows: Ints, out: Floats, gate: Floats,
) -> None:  # fmt: skip
    features, hidden, narrow = np.empty(INPUTS), np.empty(HIDDEN), np.empty(NARROW)
    both = np.empty(OUTPUTS)
    for i in range(len(rows)):
        job = jobs[rows[i]]
        if job.exempt:
            out[i] = ALWAYS_FIRST + job.submit
            continue
        describe_job(jobs, accounts, demands, cluster, rows[i], features)
        first = layer(p, 0, HIDDEN, features, hidden)
        rectify(hidden)
        first = layer(p, first, NARROW, hidden, narrow)
        rectify(narrow)
        layer(p, first, OUTPUTS, narrow, both)
        out[i] = math.log(job.gpus * job.estimate) + both[0]
        gate[i] = both[1]


def learned(weights: Floats, name: str) -> Ordering:
    """An ordering from the weights of a trained network."""
    if weights.shape != (WEIGHTS,) or not np.all(np.isfinite(weights)):
        raise ConfigError(f"{name}: expected {WEIGHTS} finite weights, got shape {weights.shape}")
    return Ordering(name, _learned, Varies.ALWAYS, uses_state=True, weights=weights)


def untrained(seed: int, open_gate: bool = True) -> Floats:
    """Random hidden layers under an output of zero: ordered as SAF, the gate open or shut."""
    random = np.random.default_rng(seed)
    layers = []
    for rows, columns in SHAPES:
        values = random.normal(0.0, math.sqrt(2.0 / rows), (rows, columns))
        values[-1] = 0.0
        layers.append(values)
    layers[-1][:] = 0.0
    layers[-1][-1, 1] = 1.0 if open_gate else -1.0
    return np.concatenate([values.ravel() for values in layers])
