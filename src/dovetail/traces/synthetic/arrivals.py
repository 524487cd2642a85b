"""When jobs come: batches after irregular gaps, the jobs of a batch close together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dovetail.domain.errors import ConfigError
from dovetail.domain.jobs import Floats, Ints
from dovetail.traces.synthetic.streams import Streams, spread


class Arriving(NamedTuple):
    """Jobs in order of arrival."""

    due: Floats  # [jobs] busy seconds since the first, ascending
    batch: Ints  # [jobs] numbered by the batches' first jobs


@dataclass(frozen=True, slots=True)
class Arrivals:
    """Batches with a power-law number of jobs, Weibull gaps between them, and rare lulls.

    The coefficients of variation of the published traces (21.6, 15.1, 2.5 over their whole
    length) come from lulls: without the 38, 15 and 2 gaps of over six hours they are 5.1, 3.6
    and 1.8. A heavier law of gaps instead (shapes 0.27 and 0.25) came to 15.7 and 12.6 on the
    first two, but with a median gap of 1 s where the traces have 7 and 47 s; with lulls it is
    6 and 21 s. `lulls=0` gives an even trace.
    """

    mean_gap: float  # seconds between jobs, over the whole trace
    gap_shape: float  # of the Weibull law of gaps between batches; 1: exponential
    lulls: float  # per job
    lull: float  # mean length, seconds
    batch_tail: float  # P(batch has more than k jobs) falls as k to minus this power
    batch_largest: int = 300
    batch_gap: float = 5.0  # mean seconds between the jobs of a batch

    def __post_init__(self) -> None:
        if min(self.mean_gap, self.gap_shape, self.batch_tail, self.batch_gap) <= 0:
            raise ConfigError("arrivals: gaps, gap_shape and batch_tail must be above 0")
        if not (self.lulls >= 0 and self.lull >= 0 and self.lulls * self.lull < self.mean_gap):
            raise ConfigError(
                f"arrivals: {self.lulls:g} lulls per job of {self.lull:g} s leave no time for "
                f"jobs at a mean gap of {self.mean_gap:g} s; make lulls rarer or shorter"
            )
        if self.batch_largest < 1:
            raise ConfigError(
                f"arrivals: batch_largest is {self.batch_largest}, expected 1 or more"
            )

    def draw(self, jobs: int, streams: Streams) -> Arriving:
        """This many jobs; batches may overlap."""
        counts = self._batch_sizes(jobs, streams("batch size"))
        batch = np.repeat(np.arange(len(counts)), counts)
        start = self._starts(len(counts), jobs, streams)
        gap = streams("job gap").exponential(self.batch_gap, jobs)
        elapsed = np.cumsum(gap)
        first = np.cumsum(counts) - counts
        due = start[batch] + elapsed - elapsed[first][batch]
        order = np.argsort(due, kind="stable")
        return Arriving(due[order], batch[order])

    def _batch_sizes(self, jobs: int, random: np.random.Generator) -> Ints:
        """Jobs per batch, summing to `jobs`; the last batch is cut."""
        sizes = np.minimum(random.random(jobs) ** (-1 / self.batch_tail), self.batch_largest)
        ends = np.minimum(np.cumsum(sizes.astype(np.int64)), jobs)
        ends = ends[: int(np.searchsorted(ends, jobs)) + 1]
        return np.diff(ends, prepend=0)

    def _starts(self, batches: int, jobs: int, streams: Streams) -> Floats:
        """When each batch begins; the first at 0, the mean gap as asked for."""
        gaps = (-np.log1p(-spread(streams("batch gap"), batches))) ** (1 / self.gap_shape)
        lulls = min(int(self.lulls * jobs), batches - 1)
        gaps *= (self.mean_gap * jobs - self.lull * lulls) / gaps.sum()
        random = streams("lull")
        where = random.choice(np.arange(1, batches), lulls, replace=False)
        gaps[where] += self.lull * -np.log1p(-spread(random, lulls))
        starts: Floats = np.cumsum(gaps) - gaps[0]
        return starts
