"""What the scheduler is told of run times: one number for the order, one for reservations."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dovetail.domain.jobs import Floats

PREDICTED, LIMIT = "predicted", "limit"
"""Kinds of estimates that clusters really have; a trained policy may have its own way with both."""


@dataclass(frozen=True, slots=True)
class Estimates:
    """How long the scheduler thinks jobs take, as known when each is submitted.

    `seconds` is what orderings see. `reserve` is how long a job holds its GPUs for those who wait:
    reservations, backfilling and placements reckon with it.
    """

    name: str  # "exact", "limit", "noisy:1", "predicted:mixture,order=log-mean,reserve=q80", ...
    seconds: Floats  # [jobs]
    reserve: Floats = field(default_factory=lambda: np.empty(0))  # [jobs]; empty: the same
    spread: Floats = field(default_factory=lambda: np.empty(0))  # [jobs] of the logarithm; empty: 0
    notes: tuple[str, ...] = ()  # what was filled in, counted

    def __post_init__(self) -> None:
        if not len(self.reserve):
            object.__setattr__(self, "reserve", self.seconds)
        if not len(self.spread):
            object.__setattr__(self, "spread", np.zeros(len(self.seconds)))

    def take(self, rows: Any) -> Estimates:
        """The estimates of these jobs."""
        return Estimates(
            self.name, self.seconds[rows], self.reserve[rows], self.spread[rows], self.notes
        )
