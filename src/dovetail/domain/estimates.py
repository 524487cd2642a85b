"""What the scheduler is told of run times: one number for the order, one for reservations."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dovetail.domain.jobs import Floats

PREDICTED, LIMIT = "predicted", "limit"
"""Kinds of estimates that clusters really have; a trained policy may have its own way with both."""

EARLY = (0.0625, 0.125, 0.25, 0.5)
"""Shares of `reserve` that a job has run when what is left is looked at anew; powers of two, so
that times are the same however they are worked out. Later that is whenever it has outlived what
was believed. Without the first four the prototype gained half as much on KTH."""

FORECAST = ("spread", "skew", "margin")
"""What a policy may know of a prediction beside the one number for the order."""


@dataclass(frozen=True, slots=True)
class Estimates:
    """How long the scheduler thinks jobs take, as known when each is submitted.

    `seconds` is what orderings see. `reserve` is how long a job holds its GPUs for those who wait:
    reservations, backfilling and placements reckon with it.
    """

    name: str  # "exact", "limit", "noisy:1", "predicted:mixture,order=log-mean,reserve=q80", ...
    seconds: Floats  # [jobs]
    reserve: Floats = field(default_factory=lambda: np.empty(0))  # [jobs]; empty: the same
    # What else a distribution says, as logarithms; empty: 0, as of one number.
    spread: Floats = field(default_factory=lambda: np.empty(0))  # [jobs] see Distribution
    skew: Floats = field(default_factory=lambda: np.empty(0))  # [jobs] mean / log-mean
    margin: Floats = field(default_factory=lambda: np.empty(0))  # [jobs] 80th % / log-mean
    notes: tuple[str, ...] = ()  # what was filled in, counted
    revisions: Floats = field(default_factory=lambda: np.empty((0, 0)))
    """[jobs, revisions] seconds: what `reserve` becomes as a job runs on, see
    `simulator/kernel/revisions.py`; without any it is doubled whenever it has passed."""

    def __post_init__(self) -> None:
        if not len(self.reserve):
            object.__setattr__(self, "reserve", self.seconds)
        if not len(self.revisions):
            object.__setattr__(self, "revisions", np.empty((len(self.seconds), 0)))
        for name in FORECAST:
            if not len(getattr(self, name)):
                object.__setattr__(self, name, np.zeros(len(self.seconds)))

    def take(self, rows: Any) -> Estimates:
        """The estimates of these jobs."""
        own = {name: getattr(self, name)[rows] for name in FORECAST}
        own |= {name: getattr(self, name)[rows] for name in ("seconds", "reserve", "revisions")}
        return replace(self, **own)
