"""The model of rigid jobs by Lublin and Feitelson (JPDC 63, 2003), processors being GPUs.

The parameters are those for batch and interactive jobs taken as one stream, as published with
the model. It knows neither users nor run-time limits.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dovetail.domain.errors import ConfigError
from dovetail.domain.jobs import Bools, Floats, Ints
from dovetail.traces.synthetic.limits import Limits
from dovetail.traces.synthetic.rhythm import Rhythm
from dovetail.traces.synthetic.streams import Streams
from dovetail.traces.synthetic.workload import Draft

HALF_HOURS = 48
DAY_BEGINS = 11
"""The half-hour, counted from 1, from which the model's gamma law spreads a day's jobs."""

LONGEST_LOG_RUN = 12.0  # the model redraws jobs of more than two days
LONGEST_LOG_GAP = 13.0  # and gaps of more than five


@dataclass(frozen=True, slots=True)
class Gamma:
    """A gamma law: mean shape x scale."""

    shape: float
    scale: float

    def draw(self, random: np.random.Generator, count: int) -> Floats:
        return random.gamma(self.shape, self.scale, count)

    def mass(self, low: float, high: float) -> float:
        """The probability between two points; midpoints, as the standard library has no cdf."""
        steps = 64
        x = low + (np.arange(steps) + 0.5) * (high - low) / steps
        log_density = (self.shape - 1) * np.log(x) - x / self.scale
        log_density -= math.lgamma(self.shape) + self.shape * math.log(self.scale)
        return float(np.exp(log_density).mean() * (high - low))


@dataclass(frozen=True, slots=True)
class LublinWorkload:
    """Log-uniform sizes in two stages, hyper-gamma run times, gamma gaps with a daily cycle.

    For machines far above the 128 processors that it was fitted to, the model makes nearly all
    large jobs long, since the share of short ones falls linearly with size.
    """

    name: str = "lublin"
    processors: int = 128
    serial: float = 0.244  # share of all jobs
    power_of_two: float = 0.576  # share of all jobs, serial ones not counted
    smallest: float = 0.8  # log2; below 1, so that size 2 gets its share
    knee: float = 2.5  # log2 below the machine's size, where large jobs become rare
    below_knee: float = 0.86  # share of parallel jobs
    short: Gamma = Gamma(4.2, 0.94)  # logarithm of run time
    long: Gamma = Gamma(312.0, 0.03)
    short_share: float = 0.78  # at size 0 ...
    short_share_slope: float = -0.0054  # ... and per processor
    gap: Gamma = Gamma(10.2303 * 1.0225, 0.4871)  # logarithm; rush hours, then all hours
    day: Gamma = Gamma(8.1737, 3.9631)  # half-hours
    limits: Limits | None = None

    def __post_init__(self) -> None:
        if self.processors < 1:
            raise ConfigError(f"{self.name}: processors is {self.processors}, expected 1 or more")
        if not (self.serial >= 0 and self.power_of_two >= 0):
            raise ConfigError(f"{self.name}: shares of sizes must be 0 or more")
        if self.serial + self.power_of_two > 1:
            raise ConfigError(f"{self.name}: serial and power_of_two together exceed 1")

    @property
    def cluster_gpus(self) -> int:
        return self.processors

    @property
    def rhythm(self) -> Rhythm:
        """Half-hours of one day; the part of the gamma law beyond midnight opens the next."""
        weights = [0.0] * HALF_HOURS
        for i in range(DAY_BEGINS, DAY_BEGINS + HALF_HOURS):
            weights[(i - 1) % HALF_HOURS] = self.day.mass(i - 0.5, i + 0.5)
        return Rhythm(tuple(weights), slot=1800.0)

    def draw(self, jobs: int, streams: Streams, largest: int) -> Draft:
        """Jobs for a machine of `largest` processors."""
        random = streams("gap")
        log_gap = self.gap.draw(random, jobs)
        _redraw(log_gap, LONGEST_LOG_GAP, lambda again: self.gap.draw(random, int(again.sum())))
        elapsed = np.cumsum(np.exp(log_gap))
        gpus = self._sizes(jobs, streams("size"), largest)
        run = self._run_times(gpus, streams("run"))
        limit = None
        if self.limits is not None:
            limit = self.limits.draw(run, np.arange(jobs), streams("limit"))
        return Draft(due=elapsed - elapsed[0], run=run, gpus=gpus, limit=limit)

    def _sizes(self, jobs: int, random: np.random.Generator, machine: int) -> Ints:
        high = math.log2(machine)
        low = min(self.smallest, high)
        middle = max(low, high - self.knee)
        kind, stage, place = random.random((3, jobs))
        log_size = np.where(
            stage < self.below_knee,
            low + (middle - low) * place,
            middle + (high - middle) * place,
        )
        # Rounded up, a machine of 100 would get jobs of 128.
        power = np.minimum(np.floor(log_size + 0.5), math.floor(high))
        log_size = np.where(kind < self.serial + self.power_of_two, power, log_size)
        log_size[kind < self.serial] = 0.0
        sizes: Ints = np.clip(np.floor(2.0**log_size + 0.5), 1, machine).astype(np.int64)
        return sizes

    def _run_times(self, gpus: Ints, random: np.random.Generator) -> Floats:
        share = np.clip(self.short_share + self.short_share_slope * gpus, 0.0, 1.0)

        def draw(rows: Bools) -> Floats:
            short = random.random(int(rows.sum())) < share[rows]
            count = len(short)
            return np.where(short, self.short.draw(random, count), self.long.draw(random, count))

        log_run = draw(np.ones(len(gpus), np.bool_))
        _redraw(log_run, LONGEST_LOG_RUN, draw)
        return np.exp(log_run)


def _redraw(values: Floats, largest: float, draw: Callable[[Bools], Floats]) -> None:
    """Draw again, in place, what came out above `largest`."""
    while (again := values > largest).any():
        values[again] = draw(again)
