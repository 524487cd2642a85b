"""Parts of a history to be played: at several loads, with arrivals a little other, and measured.

    cell = ReplayCell(rearranged(trace, load=1.1, seed=3), cluster, None, first=100)
    ours, theirs = cell.play(contestant), cell.play(rival)
    ours.against(theirs)          # Score(wait=-0.08, bsld=-0.12, ...): both better

A mean over a history is made by a few congested weeks, and one job started a second later can
make one of them twice as good or bad. So what is measured is cut into blocks of consecutive jobs,
and what counts is the mean logarithm of their ratios to what a rival makes of the same jobs: each
block counts alike, and noise is averaged away. Blocks in which the rival hardly waits say nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Protocol

import numpy as np

from dovetail.domain.cluster import Cluster
from dovetail.domain.estimates import Estimates
from dovetail.domain.job_groups import SIZES, size_codes
from dovetail.domain.jobs import Floats
from dovetail.domain.metrics import SHORT, bounded_slowdown
from dovetail.domain.policy import Backfill
from dovetail.domain.schedule import Schedule
from dovetail.domain.trace import Trace
from dovetail.policies.learned.families import Learned
from dovetail.prediction import HISTORY
from dovetail.prediction.distribution import Distribution
from dovetail.prediction.estimates import estimates_from, make_estimates
from dovetail.prediction.knowledge import is_predicted
from dovetail.prediction.request import Request
from dovetail.simulator import simulate

BLOCKS = 4
CALM = 60.0
"""Seconds added to waits, so that seconds on an idle cluster do not count."""

CONGESTED = 60.0
"""Mean wait of a rival in a block, in seconds, from which on the block counts."""

JITTER = 0.2
"""By what part a gap between two arrivals is longer or shorter."""

FEW = 50
"""Jobs of a size class below which its 95th percentile is chance."""

AHEAD = 0.1
"""What is clearly better: in the logarithm of ratios, over loads, jitters and blocks.

Leads below that on validation did not carry over to the weeks after it. On the last tenths of KTH
and PAI, candidates that led SAF by 0.075 and 0.048 waited as long, and 26 % longer.
"""

WORSE = 0.1
"""By what part the 95th percentile of a size class's waits may grow, in return for the rest."""


class Contestant(Protocol):
    """A policy, and what it is told of run times."""

    @property
    def estimates(self) -> str: ...

    def policy(self, name: str) -> Learned: ...


@dataclass(frozen=True, slots=True)
class Score:
    """Logarithms of ratios to a rival: 0 is as good, -0.1 is ten per cent better."""

    wait: float
    bsld: float
    tails: tuple[float, ...] = ()  # 95th percentile of waits of each size class; NaN: too few jobs

    @property
    def gain(self) -> float:
        """The mean and the worse of both: neither is bought with the other; below 0 is better."""
        return 0.5 * (0.5 * (self.wait + self.bsld) + max(self.wait, self.bsld))

    @property
    def worst_tail(self) -> float:
        """Of the size class that pays most."""
        known = [tail for tail in self.tails if not math.isnan(tail)]
        return max(known, default=0.0)

    @property
    def loss(self) -> float:
        """What a search makes small: the gain, and what a size class pays beyond what it may."""
        return self.gain + max(0.0, self.worst_tail - math.log1p(WORSE))

    def __str__(self) -> str:
        wait, bsld = (f"{math.expm1(value):+.1%}" for value in (self.wait, self.bsld))
        return f"wait {wait}, bsld {bsld}"


def mean_score(scores: Sequence[Score]) -> Score:
    """Over replays; a size class over those that have it. Replays without a queue say nothing."""
    known = [score for score in scores if not math.isnan(score.wait)]
    if not known:
        return Score(math.nan, math.nan)
    tails = np.array([score.tails for score in known])
    seen = ~np.isnan(tails)
    means = np.where(
        seen.any(axis=0), np.where(seen, tails, 0.0).sum(axis=0) / np.maximum(1, seen.sum(axis=0)),
        np.nan,
    )  # fmt: skip
    wait, bsld = np.mean([(score.wait, score.bsld) for score in known], axis=0).tolist()
    return Score(wait, bsld, tuple(means.tolist()))


@dataclass(frozen=True, slots=True)
class Measured:
    """What a policy made of a cell, as logarithms."""

    blocks: Floats  # [2, blocks] of mean wait and bounded slowdown
    queue: Floats  # [2] the same of all who wait meanwhile, those from before included
    tails: Floats  # [size classes] of the 95th percentile of waits; NaN: too few jobs

    @property
    def congested(self) -> bool:
        """Whether there is a block in which jobs wait."""
        return bool((np.exp(self.blocks[0]) - CALM >= CONGESTED).any())

    def against(self, rival: Measured) -> Score:
        """Over the blocks in which the rival waits; NaN where it never does."""
        counted = np.exp(rival.blocks[0]) - CALM >= CONGESTED
        if not counted.any():
            return Score(math.nan, math.nan)
        wait, bsld = (self.blocks - rival.blocks)[:, counted].mean(axis=1).tolist()
        return Score(wait, bsld, tuple((self.tails - rival.tails).tolist()))


@dataclass(frozen=True, slots=True)
class ReplayCell:
    """Jobs on a cluster, measured from row `first` on; those before bring it to its usual state."""

    trace: Trace
    cluster: Cluster
    forecast: Distribution | None  # of its jobs, from the whole history before each
    first: int
    seed: int = 0  # of noise in estimates, where they have any
    blocks: int = BLOCKS

    def play(self, contestant: Contestant) -> Measured:
        """What the contestant makes of it."""
        ordering, placement = contestant.policy("candidate")
        told = self.told(contestant.estimates)
        schedule = simulate(
            self.trace, self.cluster, ordering, placement, Backfill.EASY, told, HISTORY
        )
        return Measured(
            measure_blocks(schedule, self.first, self.blocks),
            measure_queue(schedule, self.first),
            measure_tails(schedule, self.first),
        )

    def told(self, estimates: str) -> Estimates:
        """Estimates of its jobs; predicted ones as the whole history has them."""
        if self.forecast is not None and is_predicted(estimates):
            return estimates_from(self.forecast, Request.parse(estimates))
        return make_estimates(self.trace, estimates, self.seed)


@dataclass(frozen=True, slots=True)
class Replay:
    """A cell and what the rival made of it."""

    cell: ReplayCell
    rival: Measured

    def play(self, contestant: Contestant) -> Score:
        """Against the rival; below 0 is better."""
        return self.cell.play(contestant).against(self.rival)


def rearranged(trace: Trace, load: float, seed: int) -> Trace:
    """The same jobs at another load: gaps between arrivals are shorter, each a little other.

    Gaps rather than nodes are changed, as a cluster of ten nodes cannot be made 5 % smaller.
    """
    jobs = trace.jobs
    gaps = np.diff(jobs.submit, prepend=jobs.submit[:1])
    factors = np.random.default_rng(seed).uniform(1.0 - JITTER, 1.0 + JITTER, len(gaps)) / load
    submit = jobs.submit[0] + np.cumsum(gaps * factors)
    moved = submit - jobs.submit
    other = replace(
        jobs,
        submit=submit,
        deadline=jobs.deadline + moved,
        recorded_start=jobs.recorded_start + moved,
        earliest=jobs.earliest + moved,
    )
    return Trace(other, f"{trace.name} at {load:g}", trace.notes, trace.origin)


def measure_blocks(schedule: Schedule, first: int, blocks: int) -> Floats:
    """Logarithms of the means of wait and bounded slowdown in each block: [2, blocks]."""
    wait, slow = schedule.wait, bounded_slowdown(schedule.wait, schedule.run)
    bounds = np.linspace(first, len(wait), blocks + 1).astype(int)
    means = []
    for begin, end in pairwise(bounds):
        rows = begin + np.flatnonzero(schedule.ran[begin:end])
        means.append((wait[rows].mean() + CALM, slow[rows].mean()) if len(rows) else (CALM, 1.0))
    return np.log(np.array(means).T)


def measure_queue(schedule: Schedule, first: int) -> Floats:
    """Logarithms of what all who wait from row `first` on are charged, for each job: [2].

    Own jobs look well if those from before pay, as they do when the newest are served first.
    """
    submit = schedule.trace.jobs.submit
    charged = charge_queue(schedule, float(submit[first]), float(submit[-1]))
    return np.log(charged / max(1, len(submit) - first) + np.array([CALM, 1.0]))


def charge_queue(schedule: Schedule, begin: float, end: float) -> Floats:
    """What all who wait are charged in a span of time, in sum: wait and slowdown.

    Whoever waits is charged a second of wait a second, and of slowdown a second over its run time.
    """
    ran = schedule.ran
    submit, start, run = schedule.trace.jobs.submit[ran], schedule.start[ran], schedule.run[ran]
    waited = np.maximum(0.0, np.minimum(start, end) - np.maximum(submit, begin))
    return np.array([waited.sum(), (waited / np.maximum(run, SHORT)).sum()])


def measure_tails(schedule: Schedule, first: int) -> Floats:
    """Logarithms of the 95th percentile of waits in each size class: [size classes]."""
    rows = first + np.flatnonzero(schedule.ran[first:])
    classes, wait = size_codes(schedule.trace.jobs.gpus[rows]), schedule.wait[rows]
    found = np.full(len(SIZES), np.nan)
    for number in range(len(SIZES)):
        own = wait[classes == number]
        if len(own) >= FEW:
            found[number] = math.log(float(np.percentile(own, 95)) + CALM)
    return found
