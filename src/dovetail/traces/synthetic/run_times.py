"""Job sizes and their run times: a share per size, and a table of quantiles for how long."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dovetail.domain.errors import ConfigError
from dovetail.domain.jobs import Floats, Ints

KNOTS = (0.0, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1.0)
"""Probabilities at which a table gives run times.

No two-parameter law fits: two-GPU jobs of Philly have a median of 25 s and a 90 % quantile of
three days. Ten knots, joined linearly in the logarithm, keep every share within 2 points.
"""


@dataclass(frozen=True, slots=True)
class RunTimes:
    """Seconds at each of KNOTS, ascending."""

    seconds: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.seconds) != len(KNOTS):
            raise ConfigError(f"run times: {len(self.seconds)} values, expected {len(KNOTS)}")
        if min(self.seconds) < 1 or list(self.seconds) != sorted(self.seconds):
            raise ConfigError("run times: values must ascend and be 1 s or more")

    def at(self, probability: Floats) -> Floats:
        """Seconds that this share of jobs does not exceed."""
        return np.exp(np.interp(probability, KNOTS, np.log(self.seconds)))


@dataclass(frozen=True, slots=True)
class SizeClass:
    """Sizes whose jobs run alike: GPUs and the share of all jobs that asks for them."""

    shares: tuple[tuple[int, float], ...]
    run: RunTimes

    def __post_init__(self) -> None:
        if not self.shares or not all(
            gpus >= 1 and 0 < share < math.inf for gpus, share in self.shares
        ):
            raise ConfigError("size class: sizes must be 1 GPU or more, shares above 0")


@dataclass(frozen=True, slots=True)
class Sizes:
    """All sizes of a workload side by side, small to large."""

    gpus: Ints  # [sizes]
    share: Floats  # [sizes] sums to 1
    run: tuple[RunTimes, ...]  # [sizes]

    @classmethod
    def of(cls, classes: tuple[SizeClass, ...], largest: int) -> Sizes:
        """Those up to `largest` GPUs; their shares keep their proportions."""
        rows = sorted(
            ((gpus, share, kind.run) for kind in classes for gpus, share in kind.shares),
            key=lambda row: row[0],
        )
        rows = [row for row in rows if row[0] <= largest]
        if not rows:
            raise ConfigError(f"no job of this workload fits {largest} GPUs; take more GPUs")
        share = np.array([row[1] for row in rows])
        return cls(
            np.array([row[0] for row in rows], np.int64),
            share / share.sum(),
            tuple(row[2] for row in rows),
        )

    def assign(self, latent: Floats) -> Ints:
        """An index of size per job: the order of `latent` decides, the shares come out exact."""
        return np.searchsorted(np.cumsum(self.share)[:-1], _positions(latent, 0.5), side="right")

    def run_times(self, size: Ints, latent: Floats, random: np.random.Generator) -> Floats:
        """Seconds per job: within each size the order of `latent` decides, one per stratum.

        Ranking within each size, not over all, keeps the GPU time of rare large jobs steady
        from seed to seed.
        """
        seconds = np.empty(len(size))
        order = np.argsort(size, kind="stable")
        ends = np.cumsum(np.bincount(size, minlength=len(self.gpus)))
        for run, rows in zip(self.run, np.split(order, ends[:-1]), strict=True):
            seconds[rows] = run.at(_positions(latent[rows], random.random(len(rows))))
        return seconds


def _positions(values: Floats, within: Floats | float) -> Floats:
    """Where each value stands among all, 0 to 1: a stratum by its rank, and a place `within`."""
    positions = np.empty(len(values))
    positions[np.argsort(values, kind="stable")] = (np.arange(len(values)) + within) / len(values)
    return positions
