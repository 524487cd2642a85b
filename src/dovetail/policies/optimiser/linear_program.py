"""An integer program in arrays, and the builder that it grows in, block by block."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dovetail.domain.jobs import Floats, Ints


@dataclass(frozen=True, slots=True)
class Model:
    """Maximise cost · x with low <= rows <= high, 0 <= x <= most, x integer."""

    cost: Floats
    most: Floats
    low: Floats
    high: Floats
    start: Ints  # [rows + 1] into `column` and `coefficient`
    column: Ints
    coefficient: Floats
    chunks: Ints  # [chunk columns, 6] as `world.Placed`; the number of chunks is for the solver
    warm: Floats
    constant: float  # what the columns leave out of the plan's value


@dataclass(slots=True)
class ProgramBuilder:
    """A program that grows by blocks of columns and of rows."""

    columns: int = 0
    rows: int = 0
    constant: float = 0.0
    cost: list[Floats] = field(default_factory=list)
    most: list[Floats] = field(default_factory=list)
    warm: list[Floats] = field(default_factory=list)
    low: list[Floats] = field(default_factory=list)
    high: list[Floats] = field(default_factory=list)
    entries: list[tuple[Ints, Ints, Floats]] = field(default_factory=list)

    def add_columns(self, cost: Floats, most: Floats, warm: Floats) -> Ints:
        first = self.columns
        self.columns += len(cost)
        self.cost.append(cost)
        self.most.append(most)
        self.warm.append(warm)
        return np.arange(first, self.columns)

    def add_rows(
        self,
        high: Floats | Ints,
        *terms: tuple[Ints, Ints, Floats | Ints],
        equal: bool = False,
    ) -> None:
        """Rows with an upper limit each; a term is (row in this block, column, coefficient)."""
        limit = np.asarray(high, np.float64)
        self.high.append(limit)
        self.low.append(limit if equal else np.full(len(limit), -np.inf))
        for row, column, coefficient in terms:
            values = np.broadcast_to(np.asarray(coefficient, np.float64), row.shape)
            self.entries.append((row + self.rows, column, values))
        self.rows += len(limit)


@dataclass(frozen=True, slots=True)
class ChunkColumns:
    """The chunk columns, by what they stand for."""

    column: Ints
    job: Ints
    shape: Ints
    size: Ints
    group: Ints
    slot: Ints
    most: Ints
    gang: NDArray[np.bool_]
    shared: NDArray[np.bool_]
