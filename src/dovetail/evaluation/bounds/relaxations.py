"""One machine as fast as all GPUs together: what preemption and pooling would make possible."""

from __future__ import annotations

import heapq

import numpy as np

from dovetail.compiled.functions import kernel
from dovetail.domain.jobs import Floats, Ints


@kernel
def share_out(
    release: Floats, work: Floats, base: Floats, slope: float, rate: float
) -> tuple[Floats, Floats]:
    """Serve jobs one at a time, at each moment the released one with the lowest rank.

    The rank is `base + slope · remaining work`: a slope of 0 is a fixed priority, a base of 0
    serves the shortest remaining work. Jobs are sorted by release. Gives per job the time from
    release to completion, and from release to the mean moment at which it was served.
    """
    count = len(release)
    remaining, moment = work.copy(), np.zeros(count)
    flow, delay = np.zeros(count), np.zeros(count)
    waiting = [(0.0, 0)]
    waiting.pop()
    following, now = 0, 0.0
    while following < count or len(waiting) > 0:
        if len(waiting) == 0:
            now = release[following]
        while following < count and release[following] <= now:
            heapq.heappush(waiting, (base[following] + slope * work[following], following))
            following += 1
        job = waiting[0][1]
        until = now + remaining[job] / rate
        if following < count and release[following] < until:
            until = release[following]
            served = min(remaining[job], (until - now) * rate)
        else:
            served = remaining[job]
        moment[job] += served * (0.5 * (now + until) - release[job])
        remaining[job] -= served
        now = until
        if remaining[job] > 0:
            # Its rank can only have fallen, so that it is still the first.
            waiting[0] = (base[job] + slope * remaining[job], job)
        else:
            heapq.heappop(waiting)
            flow[job] = now - release[job]
            delay[job] = moment[job] / work[job] if work[job] > 0 else 0.0
    return flow, delay


@kernel
def busy_periods(release: Floats, work: Floats, rate: float) -> Ints:
    """Number of the busy period that a job belongs to: between two the pooled machine is idle.

    Any rule that never idles with work at hand has the same periods.
    """
    period = np.zeros(len(release), np.int64)
    number, until = -1, -np.inf
    for job in range(len(release)):
        if release[job] >= until:
            number += 1
            until = release[job]
        until += work[job] / rate
        period[job] = number
    return period
