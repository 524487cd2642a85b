"""Hyperdimensional encoding: what a GPU is and does as one long vector, and retrieval by it.

Each field has a role, a random vector; each value a filler. Symbols have independent fillers; those
of a number's levels turn gradually from one into another, so that near values look alike. Binding
(the product) ties a filler to its role, bundling (the sum) puts fields together.

>>> encoder = HyperEncoder({"model": Symbols(("volta", "turing")), "utilisation": Levels(0.0, 1.0)})
>>> codes = encoder.encode([("volta", 0.9), ("volta", 0.8), ("turing", 0.1)])
>>> memory = PrototypeMemory.learn(codes, ["busy", "busy", "idle"])
>>> memory.nearest(encoder.encode([("volta", 0.95)]))
['busy']
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dovetail.domain.errors import ConfigError
from dovetail.domain.jobs import Floats

DIMENSION = 2048
"""Accuracy stops to rise here on the task of decision 0039; an encoding then takes 2 KB."""

Codes = NDArray[np.int8]
"""[rows, dimension]: ±1, or sums of a few of them."""

Value = str | float


@dataclass(frozen=True, slots=True)
class Symbols:
    """A field of names; one that is not listed is encoded as not known."""

    names: tuple[str, ...]

    def fillers(self, random: np.random.Generator, dimension: int) -> Codes:
        return random_codes(random, len(self.names), dimension)

    def index(self, value: Value) -> int:
        return self.names.index(str(value)) if value in self.names else -1


@dataclass(frozen=True, slots=True)
class Levels:
    """A field of numbers, in equal steps from low to high; beyond they count as the ends."""

    low: float
    high: float
    count: int = 16

    def __post_init__(self) -> None:
        if not (self.low < self.high and self.count >= 2):
            raise ConfigError(f"levels from {self.low} to {self.high} in {self.count} steps")

    def fillers(self, random: np.random.Generator, dimension: int) -> Codes:
        """From one random vector to another, turning equally many places at each level."""
        first, last = random_codes(random, 2, dimension)
        turned_at = random.permutation(dimension)
        bound = np.linspace(0, dimension, self.count)[:, None]
        turned: Codes = np.where(turned_at < bound, last, first)
        return turned

    def index(self, value: Value) -> int:
        number = float(value)
        if np.isnan(number):
            return -1
        inside = min(max(number, self.low), self.high)
        return round((inside - self.low) / (self.high - self.low) * (self.count - 1))


Field = Symbols | Levels


class HyperEncoder:
    """Rows of values to vectors; the same seed gives the same vectors everywhere."""

    def __init__(
        self, fields: Mapping[str, Field], dimension: int = DIMENSION, seed: int = 0
    ) -> None:
        if not fields or dimension < 8:
            raise ConfigError(f"{len(fields)} fields in {dimension} dimensions: too few")
        self.fields = dict(fields)
        self.dimension = dimension
        random = np.random.Generator(np.random.PCG64(seed))
        roles = random_codes(random, len(self.fields), dimension)
        # Bound once: encoding is then a sum of looked-up rows. The last row is "not known".
        self._bound = [
            np.concatenate(
                [bind(field.fillers(random, dimension), role), np.zeros_like(role[None])]
            )
            for field, role in zip(self.fields.values(), roles, strict=True)
        ]

    def encode(self, rows: Sequence[Sequence[Value]]) -> Codes:
        """One vector per row of values, in the order of the fields."""
        fields = list(self.fields.values())
        total = np.zeros((len(rows), self.dimension), np.int8)
        for column, (field, bound) in enumerate(zip(fields, self._bound, strict=True)):
            total += bound[[field.index(row[column]) for row in rows]]
        return total

    def encode_pairs(self, rows: Sequence[Sequence[Value]]) -> Codes:
        """The same with every pair of fields bound to each other: what depends on both is seen."""
        fields = list(self.fields.values())
        parts = [
            bound[[field.index(row[column]) for row in rows]]
            for column, (field, bound) in enumerate(zip(fields, self._bound, strict=True))
        ]
        total = sum(parts, np.zeros((len(rows), self.dimension), np.int8))
        for first in range(len(parts)):
            for second in range(first + 1, len(parts)):
                total = total + parts[first] * parts[second]
        return total


def random_codes(random: np.random.Generator, count: int, dimension: int) -> Codes:
    """Independent vectors: any two of them are nearly orthogonal."""
    return (random.integers(0, 2, (count, dimension), np.int8) * 2 - 1).astype(np.int8)


def bind(a: Codes, b: Codes) -> Codes:
    """The product, unlike both; binding again with one of them gives the other back."""
    bound: Codes = a * b
    return bound


def bundle(codes: Codes) -> Codes:
    """The sign of the sum over rows, like each of them: for prototypes of many examples.

    A prototype of signs was right more often than one of sums on the task of decision 0039 (62
    against 54 of 100 jobs after 100 examples): no frequent value outweighs all others.
    """
    signs: Codes = np.sign(codes.sum(axis=0, dtype=np.int64)).astype(np.int8)
    return signs


def similarity(a: Codes, b: Codes) -> Floats:
    """Cosine, [rows of a, rows of b]: −1 opposite, 0 unrelated, 1 the same."""
    found = _unit(a) @ _unit(b).T
    return found.astype(np.float64)


def _unit(codes: Codes) -> NDArray[np.float32]:
    """Rows of length 1; one of nothing but zeros, of which nothing is known, stays so."""
    rows = codes.astype(np.float32)
    length = np.linalg.norm(rows, axis=-1, keepdims=True)
    unit: NDArray[np.float32] = rows / np.maximum(length, np.float32(1e-9))
    return unit


class PrototypeMemory:
    """One vector per class, bundled from its examples; retrieval is the nearest of them."""

    def __init__(self, names: Sequence[str], prototypes: Codes) -> None:
        self.names, self.prototypes = list(names), prototypes

    @classmethod
    def learn(cls, codes: Codes, names: Sequence[str]) -> PrototypeMemory:
        """From labelled examples."""
        if not len(codes) or len(codes) != len(names):
            raise ConfigError(f"{len(codes)} examples with {len(names)} names: expected one each")
        known = sorted(set(names))
        labels = np.array(names)
        return cls(known, np.array([bundle(codes[labels == name]) for name in known]))

    def nearest(self, codes: Codes) -> list[str]:
        best = similarity(codes, self.prototypes).argmax(axis=1)
        return [self.names[code] for code in best.tolist()]
