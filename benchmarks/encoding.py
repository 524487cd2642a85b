"""Hyperdimensional encoding against one-hot: the kind of a job from what its GPU shows.

python -m benchmarks.run encoding

A job's kind (simulation, learning, data) shows in the utilisation of its GPU, but differently on
each model: learning fills a Volta and half of a Radeon, data jobs the other way round. Every method
keeps one prototype per kind and takes the nearest; they differ in the encoding alone. `pairs` also
encodes each pair of fields, which one-hot can do, too.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dovetail.domain.jobs import Floats
from dovetail.telemetry.encoding import (
    Field,
    HyperEncoder,
    Levels,
    PrototypeMemory,
    Symbols,
    Value,
)

MODELS = ("volta", "turing", "radeon")
KINDS = ("data", "learning", "simulation")
MEAN = {  # utilisation by kind and model
    "simulation": (0.75, 0.50, 0.75),
    "learning": (0.95, 0.70, 0.45),
    "data": (0.45, 0.30, 0.95),
}
PRIORITY = {"simulation": 0.5, "learning": 0.6, "data": 0.4}
LEVELS, SEEDS, TESTED = 16, 20, 2000
FIELDS: dict[str, Field] = {
    "model": Symbols(MODELS),
    "utilisation": Levels(0.0, 1.0, LEVELS),
    "priority": Levels(0.0, 1.0, LEVELS),
}
Rows = list[tuple[Value, ...]]


def draw(random: np.random.Generator, count: int, unknown: float) -> tuple[Rows, list[str]]:
    """Jobs and their kinds; a share of all fields is not known."""
    rows: Rows = []
    kinds = [KINDS[i] for i in random.integers(0, 3, count)]
    for kind in kinds:
        model = int(random.integers(3))
        used = float(np.clip(random.normal(MEAN[kind][model], 0.12), 0, 1))
        priority = float(np.clip(random.normal(PRIORITY[kind], 0.15), 0, 1))
        row: list[Value] = [MODELS[model], used, priority]
        gone = random.random(3) < unknown
        rows.append(tuple("?" if g and i == 0 else (np.nan if g else v)
                          for i, (v, g) in enumerate(zip(row, gone, strict=True))))  # fmt: skip
    return rows, kinds


def one_hot(rows: Rows) -> Floats:
    width = [3, LEVELS, LEVELS]
    starts = np.concatenate([[0], np.cumsum(width)])
    found = np.zeros((len(rows), sum(width)))
    for column, field in enumerate(FIELDS.values()):
        for i, row in enumerate(rows):
            index = field.index(row[column])
            if index >= 0:
                found[i, starts[column] + index] = 1.0
    return found


def one_hot_pairs(rows: Rows) -> Floats:
    plain = one_hot(rows)
    pairs = np.einsum("ni,nj->nij", plain, plain).reshape(len(rows), -1)
    return np.concatenate([plain, pairs], axis=1)


def nearest_centre(encode: Callable[[Rows], Floats], train: Rows, kinds: Sequence[str],
                   test: Rows) -> list[str]:  # fmt: skip
    """The centre of each kind with the smallest angle."""
    codes, names = encode(train), np.array(kinds)
    known = sorted(set(kinds))
    centres = np.array([codes[names == kind].mean(axis=0) for kind in known])
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    return [known[i] for i in (encode(test) @ centres.T).argmax(axis=1)]


def accuracies(examples: int, unknown: float, dimension: int, seed: int) -> dict[str, float]:
    random = np.random.default_rng(seed)
    train, kinds = draw(random, examples, unknown)
    test, truth = draw(random, TESTED, unknown)
    encoder = HyperEncoder(FIELDS, dimension, seed)
    guesses = {
        "one-hot": nearest_centre(one_hot, train, kinds, test),
        "one-hot pairs": nearest_centre(one_hot_pairs, train, kinds, test),
        "hyper": PrototypeMemory.learn(encoder.encode(train), kinds).nearest(encoder.encode(test)),
        "hyper pairs": PrototypeMemory.learn(encoder.encode_pairs(train), kinds).nearest(
            encoder.encode_pairs(test)
        ),
    }
    return {
        name: float(np.mean([a == b for a, b in zip(found, truth, strict=True)]))
        for name, found in guesses.items()
    }


def run() -> dict[str, Any]:
    cells = []
    for examples, unknown, dimension in (
        (15, 0.0, 2048), (100, 0.0, 2048), (1000, 0.0, 2048), (100, 0.2, 2048),
        (100, 0.0, 256), (100, 0.0, 512), (100, 0.0, 1024), (100, 0.0, 4096),
    ):  # fmt: skip
        found = [accuracies(examples, unknown, dimension, seed) for seed in range(SEEDS)]
        row: dict[str, Any] = {"examples": examples, "unknown": unknown, "dimension": dimension}
        for name in found[0]:
            values = np.array([each[name] for each in found])
            spread = 1.96 * values.std(ddof=1) / np.sqrt(SEEDS)
            row[name] = [round(float(values.mean()), 3), round(float(spread), 3)]
        cells.append(row)
        print(json.dumps(row))
    rows, _ = draw(np.random.default_rng(0), 1000, 0.0)
    encoder = HyperEncoder(FIELDS)
    times = {}
    ways: dict[str, Callable[[Rows], Any]] = {
        "one-hot": one_hot,
        "one-hot pairs": one_hot_pairs,
        "hyper": encoder.encode,
        "hyper pairs": encoder.encode_pairs,
    }
    for name, encode in ways.items():
        start = time.process_time()
        for _ in range(5):
            encode(rows)
        times[name] = round((time.process_time() - start) / 5 * 1000, 2)
    return {"accuracy": cells, "microseconds_a_row": times, "seeds": SEEDS}
