"""What a learned placement is shown of each free slice: numbers within [-1, 1] or close to it.

The same for any cluster: a network that scores one slice at a time works on any number of them.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dovetail.compiled.functions import kernel
from dovetail.mig.policy import MomentRow, SliceRows

SLICE_FEATURES = (
    "size",  # of the whole GPU
    "duration",
    "on_time",  # 1: the job would meet its deadline there
    "lateness",  # in run times on the largest slice, within [-4, 4]
    "tardiness",
    "energy",  # that the job adds
    "power",  # the same per second
    "packed",  # share of the GPU that is busy
    "mean_size",  # of the GPU's slices
    "slower",  # than the fastest free slice
    "fastest",  # 1: none is faster
    "slowest_on_time",  # 1: none that meets the deadline is slower
    "most_packed",  # 1: the one that edf-most-packed would take
    "left",  # time to the deadline in run times on the largest slice, within [-4, 4]
    "shortest",  # run time on the largest slice
    "category",
    "queued",
    "overdue",  # share of the waiting jobs
    "free",  # share of the slices
    "busy",  # share of the compute slices
)
Matrix = NDArray[np.float64]

LONG = math.log(1.0 + 60.0)
"""Durations count by logarithm: an hour is 1."""

FOREVER = 1e9
"""Seconds; longer ones count as this."""

CAP = 250.0
"""Watts."""


@kernel
def minutes(seconds: float) -> float:
    """0 at 0, 1 at an hour, by logarithm."""
    return math.log(1.0 + min(FOREVER, max(0.0, seconds)) / 60.0) / LONG


@kernel
def within(value: float, limit: float) -> float:
    """Cut off at the limit and scaled to [-1, 1]."""
    return min(limit, max(-limit, value)) / limit


@kernel
def describe_slices(moment: MomentRow, slices: SliceRows, out: Matrix) -> None:
    """Write out[feature, slice] for each free slice; the order is that of SLICE_FEATURES."""
    now = moment[0]
    unit = max(1e-3, min(now.shortest, FOREVER))
    fastest, slowest, packed = _standards(slices)
    for i in range(len(slices)):
        one = slices[i]
        on_time = one.lateness <= 0.0
        out[0, i] = one.size / one.slices
        out[1, i] = minutes(one.duration)
        out[2, i] = 1.0 if on_time else 0.0
        out[3, i] = within(one.lateness / unit, 4.0)
        out[4, i] = minutes(one.lateness)
        out[5, i] = minutes(one.energy / CAP)
        out[6, i] = one.energy / max(1e-3, one.duration) / CAP
        out[7, i] = one.packed
        out[8, i] = one.mean_size / 7.0
        out[9, i] = within(math.log(max(1e-9, one.duration) / max(1e-9, fastest)), 2.0)
        out[10, i] = 1.0 if one.duration == fastest else 0.0
        out[11, i] = 1.0 if on_time and one.duration == slowest else 0.0
        out[12, i] = 1.0 if i == packed else 0.0
        out[13, i] = within(now.left / unit, 4.0)
        out[14, i] = minutes(now.shortest)
        out[15, i] = now.category / 4.0
        out[16, i] = min(2.0, math.log(1.0 + now.queued) / 5.0)
        out[17, i] = now.overdue / max(1, now.queued)
        out[18, i] = now.free / now.slots
        out[19, i] = now.busy / now.compute


@kernel
def _standards(slices: SliceRows) -> tuple[float, float, int]:
    """The shortest duration, the longest that is on time, and what edf-most-packed would take."""
    fastest, slowest, packed = math.inf, -1.0, 0
    for i in range(len(slices)):
        one, best = slices[i], slices[packed]
        fastest = min(fastest, one.duration)
        if one.lateness <= 0.0:
            slowest = max(slowest, one.duration)
            ahead, tie = one.packed - best.packed, one.duration > best.duration
            if best.lateness > 0.0 or ahead > 0.0 or (ahead == 0.0 and tie):
                packed = i
        elif best.lateness > 0.0:
            ahead, tie = best.duration - one.duration, one.packed > best.packed
            if ahead > 0.0 or (ahead == 0.0 and tie):
                packed = i
    return fastest, slowest, packed
