"""Where episodes come from: warm windows of a history, recorded or drawn.

A generator is any frozen object with `scenes`; what it yields is played as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from dovetail.domain.cluster import Cluster
from dovetail.domain.errors import ConfigError
from dovetail.domain.estimates import Estimates
from dovetail.domain.jobs import Floats
from dovetail.domain.policy import Backfill, Ordering
from dovetail.domain.trace import Trace
from dovetail.policies.placement import PLACEMENTS
from dovetail.prediction import HISTORY
from dovetail.prediction.estimates import make_estimates
from dovetail.simulator import Simulation, Window, warm_window
from dovetail.traces.synthetic import WORKLOADS, synthesize

PLACEMENT = PLACEMENTS["best-fit"]
STEPS = 1_000_000


@dataclass(frozen=True, slots=True)
class Episode:
    """A window, the cluster it runs on, and what is told of run times."""

    window: Window
    cluster: Cluster
    estimates: Estimates
    predicted: Floats  # [jobs] from history, as on arrival; for bases that order by it


class Generator(Protocol):
    """Makes scenes without end; the same random numbers give the same scenes."""

    def episodes(self, base: Ordering, random: np.random.Generator) -> Iterator[Episode]: ...


@dataclass(frozen=True, slots=True)
class TraceWindows:
    """Windows of consecutive jobs, in the state to which the base policy brought the cluster."""

    trace: Trace
    cluster: Cluster
    length: int = 256
    estimates: str | Estimates = "noisy:1"  # a kind, or those of the trace's jobs

    def __post_init__(self) -> None:
        if not 1 <= self.length <= len(self.trace):
            raise ConfigError(
                f"length is {self.length}, expected 1 to {len(self.trace)}, the jobs of the trace"
            )

    def episodes(self, base: Ordering, random: np.random.Generator) -> Iterator[Episode]:
        told, seed = self.estimates, int(random.integers(1 << 31))
        if isinstance(told, str):
            told = make_estimates(self.trace, told, seed)
        simulation = Simulation(
            self.trace, self.cluster, base, PLACEMENT, Backfill.EASY, told, HISTORY
        )
        while simulation.advance(STEPS):
            pass
        whole, predicted = simulation.schedule(), simulation.tables.jobs["predicted"].copy()
        while True:
            first = int(random.integers(len(self.trace) - self.length + 1))
            window = warm_window(whole, first, self.length)
            # Predictions are those of the whole history, not of the window's.
            yield Episode(window, self.cluster, told.take(window.rows), predicted[window.rows])


@dataclass(frozen=True, slots=True)
class SyntheticWindows:
    """Windows of a drawn history, by default of RLTune's Helios cluster when it is congested."""

    workload: str = "helios"
    cluster: str = "17x8"
    jobs: int = 10_000
    load: float = 1.0
    length: int = 256
    estimates: str = "noisy:1"
    seed: int = 0

    def episodes(self, base: Ordering, random: np.random.Generator) -> Iterator[Episode]:
        cluster = Cluster.parse(self.cluster)
        trace = synthesize(
            WORKLOADS[self.workload], self.jobs, self.seed, self.load, cluster.total_gpus
        )
        return TraceWindows(trace, cluster, self.length, self.estimates).episodes(base, random)
