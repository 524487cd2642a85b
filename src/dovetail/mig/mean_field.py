"""What a mean-field controller is: distributions in, one matrix for all GPUs out.

Row r of the matrix says how a GPU that is cut in way r draws its next way: a softmax over the
logits, among the `most_likely` ways only. All GPUs share it, so that its cost depends neither on
their number nor on that of the jobs.

    field = MeanField("stay", stay, every=5)
    schedule = simulate_mig(day, cluster, PLACERS["categorical-edf"], field)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numba import types

from dovetail.compiled.functions import LazyFunction
from dovetail.domain.errors import ConfigError
from dovetail.domain.jobs import Floats
from dovetail.mig.gpus.cluster import MigCluster

EDGES = np.array([-100.0, 0.0, 0.05, 0.2, 0.5, 1.0, 5.0, 10.0, 20.0, 30.0, 1e9])
"""Minutes: the bins of the histograms; what lies beyond counts in the last bin."""

BINS = len(EDGES) - 1

EXTRAS = ("queue", "busy", "slots")
"""What is seen besides distributions: queue length / 100, shares of compute slices and of slots
that are busy."""

MORE = ("queued", "overdue", "work", "arrivals", "sine", "cosine")
"""What the published state lacks: waiting jobs, those that are overdue, and their work (minutes
on 1g), all per compute slice; arrivals of the last half hour per compute slice; the time of day."""


def seen_by(ways: int) -> int:
    """How many numbers a controller sees: shares by way, two histograms, and the extras."""
    return ways + 2 * BINS + len(EXTRAS) + len(MORE)


MATRIX = types.void(
    types.float64[::1],  # parameters of the controller
    types.float64[::1],  # what is seen, see `seen_by`
    types.float64[:, ::1],  # out: [ways, ways] logits; all are to be written
)


def steering(function: Callable[..., None]) -> LazyFunction:
    """A controller's function; arguments as in MATRIX."""
    return LazyFunction(MATRIX, function)


@dataclass(frozen=True, slots=True)
class MeanField:
    """One matrix for all GPUs, asked for after every `every` arrivals and completions."""

    name: str
    matrix: LazyFunction  # made by `steering`
    weights: Floats = field(default_factory=lambda: np.empty(0))
    every: int = 5
    most_likely: int = 3

    def __post_init__(self) -> None:
        if self.every < 1 or self.most_likely < 1:
            raise ConfigError(
                f"{self.name}: every is {self.every} and most_likely {self.most_likely}, "
                "expected 1 or more"
            )

    def arguments(self, cluster: MigCluster) -> tuple[Any, ...]:
        """What the simulator's kernels take."""
        ways = max(len(kind.ways) for kind in cluster.kinds)
        pointer = self.matrix.pointer
        return pointer, self.weights, self.every, self.most_likely, ways, seen_by(ways)
