"""What no scheduler can beat, even one that knows the future: lower bounds per trace and cluster.

Notation: job j is released at s, runs p seconds on g GPUs, so that its work is a = g·p; S is its
start, C = S + p its end, M the number of GPUs. Four relaxations, each valid by itself:

(a) Nothing starts before its release: C >= s + p.

(b) Pool the GPUs into one machine that serves a job with up to all M of them, and may preempt it.
    Every real schedule is one of that machine's. There ΣC is least when the shortest remaining
    work goes first (SRPT; Schrage 1968).

(c) A gang holds g GPUs from S to C without a break, so that the mean moment at which it is served
    is C − p/2. On the pooled machine Σ w·(mean served moment) is least when the released job with
    the largest w/a always goes first: the sum is ∫ t · Σ (w/a)·rate(t) dt, and an exchange of two
    bits of work in the wrong order lowers it (Goemans et al. 2002). Hence Σ wC >= Σ w·(that + p/2).

(d) Prices for GPU time, with the proof in `prices`. It alone keeps a job from using more than g
    GPUs, and is far stronger where jobs are narrow: Philly on 220 × 8, mean wait, 0 s by (a) to
    (c) and 2,100 s by (d).

A sum of jobs is at least the largest of these *sums*. Taking the larger value job by job is
wrong: what is lost for one job in a relaxation may be won by another. With M = 10, three jobs of
1 GPU × 10 s and one of 7 GPUs × 11/7 s, SRPT ends them at 1, 2, 3 and 4.1; job-wise maxima with
s + p give 10 + 10 + 10 + 4.1 = 34.1, and starting all at once gives 31.57.

But a sum over all jobs is a sum of sums over parts, and a part alone can only do better than among
the others. So they are compared part by part, over parts that hardly disturb each other:
components (jobs and nodes that eligibility does not connect, each bounded by the GPUs of its own
nodes), and for (a) to (c) the busy periods of the pooled machine within these.

GPUs of different speeds: let p be the run time on the fastest type that the job may use. Cutting
every job of a real schedule off p after its start leaves a legal schedule of the relaxation with
the same starts; so waits and ends are bounded by those for p. The bounded slowdown is at least
wait / max(longest p, 10) + p / max(p, 10), since a slow GPU makes the same wait count less; and at
least 1, so that short jobs have some seconds of grace.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_

import numpy as np

from dovetail.domain.cluster import Cluster
from dovetail.domain.jobs import Floats, Ints
from dovetail.domain.metrics import SHORT
from dovetail.domain.policy import Placement
from dovetail.domain.trace import Trace
from dovetail.evaluation.bounds.prices import Claims, least_cost
from dovetail.evaluation.bounds.relaxations import busy_periods, share_out
from dovetail.policies.placement.preferences import first_available
from dovetail.simulator.layout import Demands, Kind, Option, demands_of
from dovetail.simulator.wishes import settle_wishes

ANYWHERE = Placement("anywhere", first_available)
"""Eligibility does not depend on preference."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Means over the jobs that can run at all; no schedule has lower ones. NaN: none can run."""

    wait_mean: float
    jct_mean: float
    bsld_mean: float


@dataclass(frozen=True, slots=True)
class _Part:
    """Jobs that compete for the same GPUs, in order of release."""

    release: Floats
    run: Floats  # on the fastest type
    longest: Floats  # on the slowest type
    gpus: Ints
    rate: float  # GPUs that any of them may use


def lower_bounds(trace: Trace, cluster: Cluster) -> Bounds:
    """Clairvoyant lower bounds on mean wait, completion time and bounded slowdown.

    >>> from dovetail.domain.jobs import JobColumns
    >>> jobs = JobColumns(submit=[0, 0], run=[60, 120], gpus=[8, 8]).build()
    >>> lower_bounds(Trace(jobs), Cluster.parse("1x8"))
    Bounds(wait_mean=30.0, jct_mean=120.0, bsld_mean=1.25)
    """
    if any(math.isfinite(limit.submitted) for limit in cluster.limits):
        # Which jobs are refused, and so not in a mean, depends on the policy.
        return Bounds(math.nan, math.nan, math.nan)
    if cluster.outages or trace.jobs.dependency.values or np.any(trace.jobs.throttle):
        # From when on jobs wait depends on the policy.
        return Bounds(math.nan, math.nan, math.nan)
    # Jobs without GPUs are taken not to wait at all: these bounds are about GPUs alone.
    others = _without_gpus(trace, cluster)
    wait, run = 0.0, float(others.sum())
    slowdown, count = float(len(others)), len(others)
    for part in _parts(trace, cluster):
        least_wait, least_slowdown = _bound(part)
        wait, slowdown = wait + least_wait, slowdown + least_slowdown
        run += float(part.run.sum())
        count += len(part.run)
    if count == 0:
        return Bounds(math.nan, math.nan, math.nan)
    return Bounds(wait / count, (wait + run) / count, slowdown / count)


def mean_bounds(bounds: Sequence[Bounds]) -> Bounds:
    """The mean over parts of a trace, of those in which any job can run."""
    known = [bound for bound in bounds if not math.isnan(bound.wait_mean)]
    if not known:
        return Bounds(math.nan, math.nan, math.nan)
    return Bounds(
        wait_mean=math.fsum(bound.wait_mean for bound in known) / len(known),
        jct_mean=math.fsum(bound.jct_mean for bound in known) / len(known),
        bsld_mean=math.fsum(bound.bsld_mean for bound in known) / len(known),
    )


def _bound(part: _Part) -> tuple[float, float]:
    """Least sum of waits, and of bounded slowdowns."""
    work, nothing = part.gpus * part.run, np.zeros(len(part.run))
    period = busy_periods(part.release, work, part.rate)

    def add_up(values: Floats) -> Floats:
        return np.bincount(period, weights=values).astype(np.float64)

    shortest_first, _ = share_out(part.release, work, nothing, 1.0, part.rate)
    _, served = share_out(part.release, work, work, 0.0, part.rate)
    pooled = np.maximum(add_up(shortest_first - part.run), add_up(served - part.run / 2))
    waits = float(np.maximum(0.0, pooled).sum())

    weight = 1.0 / np.maximum(part.longest, SHORT)
    _, served = share_out(part.release, work, work / weight, 0.0, part.rate)
    alone = part.run / np.maximum(part.run, SHORT)
    stretched = add_up(weight * (served - part.run / 2) + alone - 1.0)
    slowdown = float(np.maximum(0.0, stretched).sum())

    release = part.release - part.release[0]
    # Later than this the pooled machine is idle, and prices would hardly matter.
    horizon = float(np.max(release + shortest_first))
    claims = Claims(
        release=release,
        run=part.run,
        gpus=part.gpus.astype(np.float64),
        weight=nothing + 1.0,
        grace=nothing,
        extra=nothing,
        job=np.arange(len(work)),
    )
    waits = max(waits, least_cost(claims, part.rate, horizon))
    claims = claims._replace(weight=weight, grace=(1.0 - alone) / weight)
    slowdown = max(slowdown, least_cost(claims, part.rate, horizon))
    return waits, slowdown + len(work)


def _parts(trace: Trace, cluster: Cluster) -> list[_Part]:
    """The components, each with the GPUs of all nodes that one of its jobs may use."""
    jobs = trace.jobs
    kinds, (demand, options, *_) = _demands(trace, cluster)
    able = demand >= 0
    used = np.unique(demand[able]).tolist()
    masks = {number: _kinds(options[number]) for number in used}
    parts = []
    for component in components(list(masks.values())):
        inside = np.zeros(len(options), np.bool_)
        inside[[number for number in used if masks[number] & component]] = True
        rows = np.flatnonzero(able & inside[demand] & (jobs.gpus > 0))
        if len(rows) == 0:
            continue
        fastest, slowest = np.ones(len(options)), np.ones(len(options))
        for number in used:
            fastest[number] = max(option.speed for option in options[number])
            slowest[number] = min(option.speed for option in options[number])
        parts.append(
            _Part(
                release=jobs.submit[rows],
                run=jobs.run[rows] / fastest[demand[rows]],
                longest=jobs.run[rows] / slowest[demand[rows]],
                gpus=jobs.gpus[rows],
                rate=float(
                    sum(
                        kind.gpus * len(kind.nodes)
                        for bit, kind in enumerate(kinds)
                        if component >> bit & 1
                    )
                ),
            )
        )
    return parts


def _without_gpus(trace: Trace, cluster: Cluster) -> Floats:
    """Run times of the jobs that ask for no GPU and can run."""
    jobs = trace.jobs
    if jobs.gpus.all():
        return np.empty(0)
    _, demands = _demands(trace, cluster)
    return jobs.run[(demands.of_job >= 0) & (jobs.gpus == 0)]


def _demands(trace: Trace, cluster: Cluster) -> tuple[list[Kind], Demands]:
    """As a replay has them, wherever a policy would place jobs."""
    wishes = settle_wishes(trace.jobs, cluster)
    demands = demands_of(wishes.jobs, wishes.site.cluster, wishes.kinds, ANYWHERE)
    return wishes.kinds, demands


def _kinds(options: list[Option]) -> int:
    """Bits of all kinds of nodes that a demand may use."""
    return reduce(or_, (option.large_kinds | option.small_kinds for option in options))


def components(masks: list[int]) -> list[int]:
    """Sets of bits, merged as long as two of them share one.

    >>> components([0b0011, 0b1000, 0b0110])
    [8, 7]
    """
    merged: list[int] = []
    for mask in masks:
        apart = [other for other in merged if not other & mask]
        merged = [*apart, reduce(or_, (other for other in merged if other & mask), mask)]
    return merged
