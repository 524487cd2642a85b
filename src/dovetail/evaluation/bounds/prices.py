"""The strongest bound: let time on GPUs have a price, and let every job choose its start alone.

For any prices λ(t) >= 0 per GPU second, a job that starts at S pays g·∫λ over its run. No schedule
uses more than M GPUs, so that all jobs together pay at most M·∫λ. Hence

    Σ cost(wait) >= Σ_j min over S of (cost_j(S − s) + g·∫λ from S to S + p) − M·∫λ,

whatever the prices (the Lagrangian dual of the time-indexed program; Dyer and Wolsey 1990). Prices
rise where the jobs' own choices overfill the cluster and fall elsewhere; the best sum is kept.

Unlike the pooled machine this knows that a job runs p seconds on no more than g GPUs, which is why
it is the only one of the bounds that says something of large clusters.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dovetail.compiled.functions import inner, kernel
from dovetail.domain.jobs import Floats, Ints

BUCKETS = 1000
"""Steps of the prices over time. With ROUNDS this bounds Philly's mean wait by 2,108 s, in 0.7 s;
2000 steps and 1000 rounds give 2,272 s, in 14 s."""

ROUNDS = 60
"""How often prices are changed."""

PATIENCE = 5
"""Rounds without a better sum before smaller steps are taken."""


class Claims(NamedTuple):
    """Jobs as the market sees them; costs are extra + weight · max(0, wait − grace).

    A job that can run in several ways has a row for each, one after the other; it takes the
    cheapest.
    """

    release: Floats  # seconds since the first
    run: Floats
    gpus: Floats
    weight: Floats
    grace: Floats
    extra: Floats
    job: Ints  # rows of one job have the same number


def least_cost(claims: Claims, rate: float, horizon: float) -> float:
    """A lower bound on the sum of costs on `rate` GPUs; prices are 0 after the horizon."""
    if horizon <= 0:
        return 0.0
    width = horizon / min(BUCKETS, 4 * len(claims.run))
    # Of one type, whoever asks: another one would be compiled again.
    whole = claims._replace(job=np.ascontiguousarray(claims.job))
    return best_sum(whole, float(rate), width, horizon)


@kernel
def best_sum(claims: Claims, rate: float, width: float, horizon: float) -> float:
    """Climb from no prices at all; every sum on the way is a bound."""
    count = int(np.ceil(horizon / width))
    prices, used = np.zeros(count), np.zeros(count)
    best, kept = choose(claims, rate, prices, width, used), prices.copy()
    excess = np.maximum(0.0, used - rate * width)
    if excess.max() <= 0:
        return best
    for power in range(-24, 8):  # only a direction is known: find how far to go
        prices = excess / excess.max() * 2.0**power * np.mean(claims.weight)
        total = choose(claims, rate, prices, width, used)
        if total > best:
            best, kept = total, prices.copy()
        elif total < 0:
            break  # higher prices only get worse: the sum is concave in them
    if best <= 0:
        return best
    size, failed = 1.0, 0
    prices = kept.copy()
    for _ in range(ROUNDS):
        total = choose(claims, rate, prices, width, used)
        if total > best:
            best, kept, failed = total, prices.copy(), 0
        else:
            failed += 1
        if failed >= PATIENCE:
            size, failed = 0.6 * size, 0
            prices = kept.copy()
            total = choose(claims, rate, prices, width, used)
        slope = used - rate * width
        slope[(prices <= 0) & (slope < 0)] = 0.0
        steepness = np.sum(slope * slope)
        if steepness <= 0:
            break
        prices = np.maximum(0.0, prices + slope * (size * (2.0 * best - total) / steepness))
    return best


@kernel
def choose(claims: Claims, rate: float, prices: Floats, width: float, used: Floats) -> float:
    """Let every job start where it is cheapest: the bound, and in `used` GPU seconds per bucket."""
    count = len(prices)
    paid = np.zeros(count + 1)  # by one GPU, from time 0 to each edge
    paid[1:] = np.cumsum(prices) * width
    whole = np.zeros(count + 1)  # changes of the GPUs that are in use for whole buckets
    used[:] = 0.0
    total = -rate * float(paid[count])
    row = 0
    while row < len(claims.run):
        chosen, start, cost, row = cheapest_way(claims, row, paid, prices, width)
        total += cost
        end = min(start + claims.run[chosen], count * width)
        first, last = int(start / width), min(int(end / width), count - 1)
        gpus = claims.gpus[chosen]
        if first >= count:
            continue
        if first == last:
            used[first] += gpus * (end - start)
        else:
            used[first] += gpus * ((first + 1) * width - start)
            used[last] += gpus * (end - last * width)
            whole[first + 1] += gpus * width
            whole[last] -= gpus * width
    used += np.cumsum(whole)[:count]
    return total


@inner
def cheapest_way(
    claims: Claims, row: int, paid: Floats, prices: Floats, width: float
) -> tuple[int, float, float, int]:
    """Of the rows of the job at `row`: which, when, what it costs, and where the next job is."""
    chosen, start, least, job = row, 0.0, np.inf, claims.job[row]
    while row < len(claims.run) and claims.job[row] == job:
        at, cost = cheapest_start(claims, row, paid, prices, width)
        if cost + claims.extra[row] < least:
            chosen, start, least = row, at, cost + claims.extra[row]
        row += 1
    return chosen, start, least, row


@inner
def cheapest_start(
    claims: Claims, job: int, paid: Floats, prices: Floats, width: float
) -> tuple[float, float]:
    """When, and what it costs.

    The cost is piecewise linear in the start: least where start or end meets an edge of two
    buckets, or where the grace ends.
    """
    release, run, gpus = claims.release[job], claims.run[job], claims.gpus[job]
    weight, free_until = claims.weight[job], release + claims.grace[job]
    start = release
    least = gpus * (
        paid_until(release + run, paid, prices, width) - paid_until(release, paid, prices, width)
    )
    by_start, by_end = int(release / width) + 1, int((release + run) / width) + 1
    bend = free_until
    while True:
        one, other = by_start * width, by_end * width - run
        at = min(one, other, bend)
        if one <= at:
            by_start += 1
        if other <= at:
            by_end += 1
        if bend <= at:
            bend = np.inf
        late = weight * max(0.0, at - free_until)
        if late >= least:
            return start, least
        if at < release:
            continue
        cost = late + gpus * (
            paid_until(at + run, paid, prices, width) - paid_until(at, paid, prices, width)
        )
        if cost < least:
            start, least = at, cost


@inner
def paid_until(time: float, paid: Floats, prices: Floats, width: float) -> float:
    """The price of one GPU from time 0 on."""
    bucket = int(time / width)
    if bucket >= len(prices):
        return float(paid[len(prices)])
    return float(paid[bucket] + prices[bucket] * (time - bucket * width))
