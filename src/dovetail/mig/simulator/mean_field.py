"""The mean-field view of sliced GPUs, and how every GPU draws its next way from one matrix."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dovetail.compiled.functions import inner, kernel
from dovetail.domain.jobs import Floats, Ints
from dovetail.mig.mean_field import BINS, EDGES
from dovetail.mig.metrics import MINUTE
from dovetail.mig.simulator.devices import ask
from dovetail.mig.simulator.placement import chance
from dovetail.mig.simulator.rows import NOBODY, MigWorld, cut, gpu, kind, need, queue, told_time

DAY = 86400.0
RECENT = 1800.0
"""Seconds over which arrivals are counted: long enough for a steady rate, short for an hour's."""

SCALE = 100.0
"""Waiting jobs that count as 1."""


@kernel
def bin_of(value: float) -> int:
    """The bin of a number of minutes."""
    found = 0
    while found < BINS - 1 and value >= EDGES[found + 1]:
        found += 1
    return found


@inner
def show(w: MigWorld, ways: int, out: Any) -> None:
    """Shares of GPUs by way, of waiting jobs by 7g time and by time left, and EXTRAS."""
    out[: ways + 2 * BINS] = 0.0
    busy = compute = 0
    for number in range(w.gpu_count):
        one = gpu(w, number)
        out[cut(w, one.cut).way] += 1.0 / w.gpu_count
        busy += one.busy
        compute += kind(w, one.kind).slices
    line, share = queue(w), 1.0 / max(1, w.queued)
    for place in range(w.queued):
        job = line[place]
        out[ways + bin_of(told_time(w, job, 7) / MINUTE)] += share
        out[ways + BINS + bin_of((need(w, job).deadline - w.now) / MINUTE)] += share
    extras = out[ways + 2 * BINS :]
    extras[0] = min(1.0, w.queued / SCALE)
    extras[1] = busy / compute
    extras[2] = 1.0 - w.free / w.open_slots


@inner
def show_more(w: MigWorld, out: Floats) -> None:
    """MORE: numbers that mean the same on a cluster of any size."""
    compute = 0
    for number in range(w.gpu_count):
        compute += kind(w, gpu(w, number).kind).slices
    line, work, overdue = queue(w), 0.0, 0
    for place in range(w.queued):
        job = line[place]
        work += min(DAY, told_time(w, job, 1)) / MINUTE
        overdue += need(w, job).deadline < w.now
    out[0] = min(4.0, w.queued / compute)
    out[1] = min(4.0, overdue / compute)
    out[2] = min(4.0, work / compute / 10.0)
    out[3] = (w.arrived - _arrived_by(w, w.now - RECENT)) / compute
    angle = 2.0 * math.pi * w.now / DAY
    out[4], out[5] = math.sin(angle), math.cos(angle)


@inner
def _arrived_by(w: MigWorld, moment: float) -> int:
    """How many jobs had come by then."""
    low, high = 0, w.arrived
    while low < high:
        middle = (low + high) >> 1
        if need(w, middle).release <= moment:
            low = middle + 1
        else:
            high = middle
    return low


@inner
def ways_of(w: MigWorld, number: int) -> int:
    """How many ways there are to cut this GPU."""
    mine = kind(w, gpu(w, number).kind)
    return cut(w, mine.first + mine.count - 1).way + 1


@inner
def draw_all(w: MigWorld, logits: Floats, most_likely: int) -> None:
    """Let every GPU draw its next way from the row of its present one."""
    rows, kept = len(logits), min(most_likely, len(logits))
    # GPUs that are cut alike share a row: it is worked out once, whatever their number.
    likely, upto = np.empty((rows, kept), np.int64), np.empty((rows, kept))
    known = np.zeros(rows, np.int64)
    for number in range(w.gpu_count):
        way, ways = cut(w, gpu(w, number).cut).way, ways_of(w, number)
        if known[way] != ways:
            most_likely_ways(logits[way], ways, likely[way], upto[way])
            known[way] = ways
        chosen, luck = 0, chance(w)
        while chosen < kept - 1 and luck >= upto[way, chosen]:
            chosen += 1
        if likely[way, chosen] != way or gpu(w, number).goal != NOBODY:
            ask(w, number, likely[way, chosen])


@kernel
def most_likely_ways(logits: Floats, ways: int, likely: Ints, upto: Floats) -> None:
    """The ways with the highest logits, of equal ones the first, and their summed chances.

    If there are fewer ways than places, the last ones have no chance.
    """
    kept, taken = min(len(likely), ways), np.zeros(ways, np.bool_)
    for place in range(kept):
        best = -1
        for way in range(ways):
            if not taken[way] and (best < 0 or logits[way] > logits[best]):
                best = way
        likely[place], taken[best] = best, True
    total = 0.0
    for place in range(kept):
        total += math.exp(logits[likely[place]] - logits[likely[0]])
        upto[place] = total
    upto[:kept] /= total
    upto[kept - 1 :] = 1.0
    likely[kept:] = likely[kept - 1]
