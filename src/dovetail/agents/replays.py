"""Parts of a history to be played: at several loads, with arrivals a little other, and measured.

    cell = ReplayCell(rearranged(trace, load=1.1, seed=3), cluster, None, first=100)
    ours, theirs = cell.play(contestant), cell.play(rival)
    ours.against(theirs)          # Score(wait=-0.08, bsld=-0.12, ...): both better

A mean over a history is made by a few congested weeks, and one job started a second later can
make one of them twice as good or bad. So what is measured is cut into blocks of as many
submissions, and what counts is the mean logarithm of the ratios of what all who wait are charged in
them (`charges`) to the same under a rival: each block counts alike, and noise is averaged away.
Blocks in which nobody waits say nothing.

That mean does not see what few bad weeks cost: a policy may lead it and let large jobs starve. So
what is chosen leads by the plain total, too (`total_score`, `worse_score`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import astuple, dataclass, field, replace
from itertools import pairwise
from typing import Protocol

import numpy as np

from dovetail.agents.aim import MEASURES, USUAL, gain_by, tell_ratios
from dovetail.agents.charges import charge_blocks
from dovetail.agents.outcomes import block_outcomes, part_outcomes
from dovetail.domain.cluster import Cluster
from dovetail.domain.estimates import Estimates
from dovetail.domain.job_groups import SIZES, size_codes
from dovetail.domain.jobs import Bools, Floats
from dovetail.domain.metrics import bounded_slowdown
from dovetail.domain.objective import Objective
from dovetail.domain.policy import Backfill
from dovetail.domain.schedule import Schedule
from dovetail.domain.trace import Trace
from dovetail.policies.learned.families import Learned
from dovetail.prediction import HISTORY
from dovetail.prediction.distribution import Distribution
from dovetail.prediction.estimates import estimates_from, make_estimates
from dovetail.prediction.knowledge import is_predicted
from dovetail.prediction.request import Request
from dovetail.simulator import Window, simulate, simulate_window

BLOCKS = 4
CALM = 60.0
"""Seconds added to waits, so that seconds on an idle cluster do not count."""

CONGESTED = 60.0
"""Seconds of wait that a job of a block is charged, from which on the block counts."""

JITTER = 0.2
"""By what part a gap between two arrivals is longer or shorter."""

LEAST_USE = 0.01
"""Share of the GPUs; of a block in which less is used, it matters not how much less."""

FEW = 50
"""Jobs of a size class below which its 95th percentile is chance."""

WORSE = 0.1
"""By what part the 95th percentile of a size class's waits may grow, in return for the rest."""


class Contestant(Protocol):
    """A policy, and what it is told of run times."""

    @property
    def estimates(self) -> str: ...

    def policy(self, name: str) -> Learned: ...


@dataclass(frozen=True, slots=True)
class Score:
    """Logarithms of ratios to a rival: 0 is as good, -0.1 is ten per cent better.

    Of utilisation that of the rival's to ours, so that below 0 is better there, too.
    """

    wait: float
    bsld: float
    tails: tuple[float, ...] = ()  # 95th percentile of waits of each size class; NaN: too few jobs
    tail: float = math.nan  # of all waits; NaN: not measured
    makespan: float = math.nan
    utilisation: float = math.nan
    aim: Objective = USUAL

    @classmethod
    def of(cls, aim: Objective, values: Sequence[float], tails: tuple[float, ...] = ()) -> Score:
        """From figures in the order of MEASURES; what is left out is not measured."""
        unknown = [math.nan] * (len(MEASURES) - len(values))
        wait, bsld, tail, makespan, utilisation = *values, *unknown
        return cls(wait, bsld, tails, tail, makespan, utilisation, aim)

    @property
    def values(self) -> tuple[float, ...]:
        """In the order of MEASURES."""
        return (self.wait, self.bsld, self.tail, self.makespan, self.utilisation)

    @property
    def weighed(self) -> tuple[float, ...]:
        """What the aim looks at, and nothing else."""
        weights = astuple(self.aim)
        return tuple(value for value, weight in zip(self.values, weights, strict=True) if weight)

    @property
    def gain(self) -> float:
        """By the aim: nothing is bought with the rest alone; below 0 is better."""
        return gain_by(self.aim, self.values)

    @property
    def worst_tail(self) -> float:
        """Of the size class that pays most."""
        known = [tail for tail in self.tails if not math.isnan(tail)]
        return max(known, default=0.0)

    @property
    def loss(self) -> float:
        """What a search makes small: the gain, and what a size class pays beyond what it may."""
        return self.gain + max(0.0, self.worst_tail - math.log1p(WORSE))

    def facts(self) -> dict[str, float]:
        """Changes for a card: wait and slowdown, and what else is aimed at."""
        outcomes = {
            name: math.expm1(-value if name == "utilisation" else value)
            for name, value in zip(MEASURES[2:], self.values[2:], strict=True)
            if getattr(self.aim, name)
        }
        return {"wait": math.expm1(self.wait), "bsld": math.expm1(self.bsld), **outcomes}

    def __str__(self) -> str:
        return tell_ratios(self.aim, self.values)


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
    values = np.mean([score.values for score in known], axis=0).tolist()
    return Score.of(known[0].aim, values, tuple(means.tolist()))


@dataclass(frozen=True, slots=True)
class Measured:
    """What a policy made of a cell, as logarithms of which less is better; rows as in MEASURES."""

    blocks: Floats  # [measures, blocks] of what all who wait are charged, and of outcomes
    own: Floats  # [measures, blocks] likewise, of the means of jobs that came in them
    tails: Floats  # [size classes] of the 95th percentile of waits; NaN: too few jobs
    whole: Floats = field(default_factory=lambda: np.empty(0))  # [outcomes] of all blocks as one

    def against(self, rival: Measured, aim: Objective = USUAL) -> Score:
        """Over the blocks in which jobs wait; NaN where they never do."""
        counted = counted_blocks(self.blocks, rival.blocks)
        if not counted.any():
            return Score(math.nan, math.nan, aim=aim)
        values = (self.blocks - rival.blocks)[:, counted].mean(axis=1).tolist()
        return Score.of(aim, values, tuple((self.tails - rival.tails).tolist()))


def counted_blocks(ours: Floats, theirs: Floats) -> Bools:
    """Blocks [..., measures, blocks] in which either waits: [..., blocks].

    If the rival's wait alone decided, blocks in which the rival was unlucky would be picked.
    """
    waits = np.exp(np.maximum(ours[..., 0, :], theirs[..., 0, :])) - CALM
    counted: Bools = waits >= CONGESTED
    return counted


def total_score(
    ours: Sequence[Measured], theirs: Sequence[Measured], aim: Objective = USUAL
) -> Score:
    """Ratios of plain means over all cells and blocks; the worst weeks count most.

    Of outcomes those of each cell as a whole: a tail of blocks is not that of all jobs.
    """
    a, b = (
        np.log(np.mean([np.exp(cell.blocks[:2]).mean(axis=1) for cell in cells], axis=0))
        for cells in (ours, theirs)
    )
    c, d = (
        np.log(np.mean([np.exp(cell.whole) for cell in cells], axis=0)) for cells in (ours, theirs)
    )
    return Score.of(aim, [*(a - b).tolist(), *(c - d).tolist()])


def worse_score(one: Score, other: Score) -> Score:
    """Of each measure the worse; size classes as the first has them."""
    return Score.of(one.aim, [*map(max, one.values, other.values)], one.tails)


@dataclass(frozen=True, slots=True)
class ReplayCell:
    """Jobs on a cluster, measured from row `first` on; those before bring it to its usual state."""

    trace: Trace
    cluster: Cluster
    forecast: Distribution | None  # of its jobs, from the whole history before each
    first: int
    seed: int = 0  # of noise in estimates, where they have any
    blocks: int = BLOCKS
    warm: Window | None = None  # the state that row `first` meets; None: an idle cluster at row 0

    def play(self, contestant: Contestant) -> Measured:
        """What the contestant makes of it."""
        return measure(self.replay(contestant), self.first, self.blocks)

    def replay(self, contestant: Contestant) -> Schedule:
        policy = (*contestant.policy("candidate"), Backfill.EASY)
        told = self.told(contestant.estimates)
        if self.warm is not None:
            return simulate_window(self.warm, self.cluster, *policy, told, HISTORY)
        return simulate(self.trace, self.cluster, *policy, told, HISTORY)

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
    aim: Objective = USUAL

    def play(self, contestant: Contestant) -> Score:
        """Against the rival; below 0 is better."""
        return self.cell.play(contestant).against(self.rival, self.aim)


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


def measure(schedule: Schedule, first: int, blocks: int) -> Measured:
    """What is charged from row `first` on, and how the jobs from there on fared."""
    means = charge_blocks(schedule, first, blocks), measure_own(schedule, first, blocks)
    charged, own = (np.log(part + np.array([[CALM], [0.0]])) for part in means)
    outcomes = _as_costs(block_outcomes(schedule, first, blocks))
    own_outcomes = np.stack([own_tails(schedule, first, blocks), *outcomes[1:]])
    return Measured(
        np.concatenate([charged, outcomes]),
        np.concatenate([own, own_outcomes]),
        measure_tails(schedule, first),
        _as_costs(part_outcomes(schedule, first)),
    )


def _as_costs(outcomes: Floats) -> Floats:
    """Tail, makespan and utilisation as logarithms of which less is better."""
    tail, makespan, used = outcomes
    costs: Floats = np.stack(
        [np.log(tail + CALM), np.log(makespan + CALM), -np.log(np.maximum(used, LEAST_USE))]
    )
    return costs


def measure_own(schedule: Schedule, first: int, blocks: int) -> Floats:
    """Means of wait and bounded slowdown of the jobs of each block: [2, blocks]."""
    wait, slow = schedule.wait, bounded_slowdown(schedule.wait, schedule.run)
    bounds = np.linspace(first, len(wait), blocks + 1).astype(int)
    means = []
    for begin, end in pairwise(bounds):
        rows = begin + np.flatnonzero(schedule.ran[begin:end])
        means.append((wait[rows].mean(), slow[rows].mean()) if len(rows) else (0.0, 1.0))
    return np.array(means).T


def own_tails(schedule: Schedule, first: int, blocks: int) -> Floats:
    """Logarithms of the 95th percentile of waits of the jobs of each block: [blocks]."""
    bounds = np.linspace(first, len(schedule.wait), blocks + 1).astype(int)
    found = []
    for begin, end in pairwise(bounds):
        wait = schedule.wait[begin:end][schedule.ran[begin:end]]
        found.append(math.log((float(np.percentile(wait, 95)) if len(wait) else 0.0) + CALM))
    return np.array(found)


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
