"""What an agent sees of a placement on slices, as parts that can be replaced.

| observation | one row of numbers                                                               |
|-------------|----------------------------------------------------------------------------------|
| paper       | 5 of the next job, 4 histograms of the queue, slices busy, slice sizes, 3 extras  |
| slices      | SLICE_FEATURES of each slot in turn; zeros where the job cannot go                |
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
from numba import carray, types
from numpy.typing import NDArray

from dovetail.compiled.functions import LazyFunction, kernel
from dovetail.compiled.tables import dtype_of
from dovetail.domain.registry import Registry
from dovetail.mig.mean_field import BINS
from dovetail.mig.metrics import MINUTE
from dovetail.mig.policies.features import SLICE_FEATURES, describe_slices
from dovetail.mig.simulator.mean_field import bin_of
from dovetail.mig.simulator.placement import describe
from dovetail.mig.simulator.rows import (
    NOBODY,
    MigWorld,
    gpu,
    moment,
    need,
    queue,
    slices,
    slot,
    told_time,
)

OBSERVE = types.void(
    types.CPointer(numba.from_dtype(dtype_of(MigWorld))),
    types.CPointer(types.float32),  # out: zeros beforehand
    types.int64,  # how many
)
Singles = NDArray[np.float32]

SCALE = 100.0
"""Minutes that count as 1, and waiting jobs that do."""

LIMIT = 100.0
"""No number that is seen is larger, or below its negative."""


def observation(function: Callable[..., None]) -> LazyFunction:
    """An observation; arguments as in OBSERVE."""
    return LazyFunction(OBSERVE, function)


@dataclass(frozen=True, slots=True)
class MigObservation:
    """What is written for a cluster with so many slots."""

    name: str
    write: LazyFunction  # made by `observation`
    width: Callable[[int], int]  # slots -> numbers


@kernel
def scaled(minutes: float) -> float:
    return min(LIMIT, max(-LIMIT, minutes / SCALE))


@kernel
def write_histograms(w: MigWorld, out: Singles) -> None:
    """Shares of the waiting jobs by time left, mean 1g/2g time, mean 3g/4g time, and 7g time."""
    line = queue(w)
    share = np.float32(1.0 / max(1, w.queued))
    for place in range(w.queued):
        job = line[place]
        out[bin_of((need(w, job).deadline - w.now) / MINUTE)] += share
        out[BINS + bin_of((told_time(w, job, 1) + told_time(w, job, 2)) / 2 / MINUTE)] += share
        out[2 * BINS + bin_of((told_time(w, job, 3) + told_time(w, job, 4)) / 2 / MINUTE)] += share
        out[3 * BINS + bin_of(told_time(w, job, 7) / MINUTE)] += share


@observation
def _paper(world: Any, numbers: Any, count: int) -> None:
    w, out = carray(world, (1,))[0], carray(numbers, (count,))
    job = queue(w)[w.head]
    left, whole = (need(w, job).deadline - w.now) / MINUTE, told_time(w, job, 7) / MINUTE
    out[0] = scaled(left)
    out[1] = scaled((told_time(w, job, 1) + told_time(w, job, 2)) / 2 / MINUTE)
    out[2] = scaled((told_time(w, job, 3) + told_time(w, job, 4)) / 2 / MINUTE)
    out[3] = scaled(whole)
    out[4] = min(1.0, whole / max(left, 0.01))
    write_histograms(w, out[5:])
    busy, sizes = out[5 + 4 * BINS :], out[5 + 4 * BINS + w.slot_count :]
    largest = 0
    for number in range(w.gpu_count):
        one = gpu(w, number)
        for row in range(one.first, one.first + one.count):
            here = slot(w, row)
            sizes[row] = here.size / 7.0
            busy[row] = 0.0 if here.job == NOBODY and here.open else 1.0
            if busy[row] == 0.0:
                largest = max(largest, here.size)
    extras = sizes[w.slot_count :]
    extras[0] = min(1.0, w.queued / SCALE)
    extras[1] = w.free / w.open_slots
    extras[2] = largest / 7.0


@observation
def _slices(world: Any, numbers: Any, count: int) -> None:
    w, out = carray(world, (1,))[0], carray(numbers, (count,))
    describe(w)
    width = len(SLICE_FEATURES)
    features = np.empty((width, w.choices))
    found = slices(w)
    describe_slices(moment(w), found, features)
    for choice in range(w.choices):
        first = found[choice].slot * width
        for feature in range(width):
            out[first + feature] = features[feature, choice]


def _paper_width(slots: int) -> int:
    return 5 + 4 * BINS + 2 * slots + 3


def _slices_width(slots: int) -> int:
    return slots * len(SLICE_FEATURES)


MIG_OBSERVATIONS: Registry[MigObservation] = Registry(
    "MIG observation",
    {
        "paper": MigObservation("paper", _paper, _paper_width),
        "slices": MigObservation("slices", _slices, _slices_width),
    },
)
