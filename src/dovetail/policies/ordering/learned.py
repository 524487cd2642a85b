"""A learned ordering: a small network corrects a heuristic, and may decline to backfill.

Every waiting job is scored by the same network (17 features, two hidden layers, two outputs).
The first output is added to the logarithm of GPUs x estimate, so that a network of zeros is SAF;
the second, the gate, keeps a job from passing a reserved one when it is negative.
"""

from __future__ import annotations

import math

import numpy as np

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
from dovetail.policies.features import FEATURES, Matrix, describe_jobs

INPUTS, HIDDEN, NARROW, OUTPUTS = len(FEATURES), 16, 8, 2
SHAPES = ((INPUTS + 1, HIDDEN), (HIDDEN + 1, NARROW), (NARROW + 1, OUTPUTS))
"""Weights of each layer, the last row its biases."""

WEIGHTS = sum(rows * columns for rows, columns in SHAPES)
BLOCK = 64
"""Jobs scored together: all that the network needs for them fits the first-level cache."""

ALWAYS_FIRST = -1e12
"""Below any learned score: where exempt jobs stand, in order of submission."""


@kernel
def layer(weights: Floats, first: int, given: Matrix, out: Matrix, count: int) -> int:
    """out = weights · given + biases for `count` jobs; returns where the next layer begins."""
    inputs, outputs = given.shape[0], out.shape[0]
    for j in range(outputs):
        bias = weights[first + inputs * outputs + j]
        for job in range(count):
            out[j, job] = bias
        for i in range(inputs):
            weight = weights[first + i * outputs + j]
            for job in range(count):
                out[j, job] += weight * given[i, job]
    return first + (inputs + 1) * outputs


@kernel
def rectify(values: Matrix, count: int) -> None:
    for j in range(values.shape[0]):
        for job in range(count):
            values[j, job] = max(0.0, values[j, job])


@kernel
def spare_exempt(jobs: JobRows, rows: Ints, out: Floats, gate: Floats) -> None:
    """Exempt jobs go before all others, and the gate is not asked."""
    for i in range(len(rows)):
        if jobs[rows[i]].exempt:
            out[i] = ALWAYS_FIRST + jobs[rows[i]].submit
            gate[i] = 0.0


@scoring
def _learned(
    p: Floats, jobs: JobRows, accounts: AccountRows, demands: DemandRows, cluster: ClusterRow,
    rows: Ints, out: Floats, gate: Floats, keep: Floats,
) -> None:  # fmt: skip
    features, hidden = np.empty((INPUTS, BLOCK)), np.empty((HIDDEN, BLOCK))
    narrow, both = np.empty((NARROW, BLOCK)), np.empty((OUTPUTS, BLOCK))
    for begin in range(0, len(rows), BLOCK):
        count = min(BLOCK, len(rows) - begin)
        block = rows[begin : begin + count]
        describe_jobs(jobs, accounts, demands, cluster, block, features)
        first = layer(p, 0, features, hidden, count)
        rectify(hidden, count)
        first = layer(p, first, hidden, narrow, count)
        rectify(narrow, count)
        layer(p, first, narrow, both, count)
        for i in range(count):
            job = jobs[block[i]]
            out[begin + i] = job.log_gpus + job.log_estimate + both[0, i]
            gate[begin + i] = both[1, i]
    spare_exempt(jobs, rows, out, gate)


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
