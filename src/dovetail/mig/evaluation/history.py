"""What happened on sliced GPUs over time: power, waiting jobs, and how the GPUs were cut.

watts = power(schedule, edges)                  # of all GPUs, means between the edges
first, last = busiest(schedule, 2 * 3600.0)     # the two hours in which most jobs waited
cuts = CutHistory.of(cluster); parts.run(day, watch=cuts)
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from dovetail.domain.jobs import Floats, Ints
from dovetail.mig.gpus.cluster import MigCluster
from dovetail.mig.schedule import MigSchedule


@dataclass(slots=True)
class CutHistory:
    """The configurations of GPUs (numbers from 1) from each moment on, as a simulation tells it."""

    cluster: MigCluster
    time: list[float] = field(default_factory=list)
    numbers: list[tuple[int, ...]] = field(default_factory=list)

    @classmethod
    def of(cls, cluster: MigCluster, begin: float = 0.0) -> CutHistory:
        """As the GPUs are cut at first."""
        return cls(cluster, [begin], [cluster.configurations])

    def __call__(self, now: float, numbers: Ints) -> None:
        latest = tuple(int(number) for number in numbers)
        if latest != self.numbers[-1]:
            self.time.append(now)
            self.numbers.append(latest)

    def at(self, moment: float) -> tuple[int, ...]:
        """How the GPUs were cut then."""
        place = int(np.searchsorted(self.time, moment, side="right")) - 1
        return self.numbers[max(0, place)]

    def stretches(self, gpu: int, last: float) -> list[tuple[float, float, int]]:
        """From when to when a GPU had which configuration, up to `last`."""
        found: list[tuple[float, float, int]] = []
        ends = [*self.time[1:], last]
        for begin, end, numbers in zip(self.time, ends, self.numbers, strict=True):
            if found and found[-1][2] == numbers[gpu]:
                found[-1] = (found[-1][0], end, numbers[gpu])
            elif begin < last:
                found.append((begin, end, numbers[gpu]))
        return found


def power(schedule: MigSchedule, edges: Floats) -> Floats:
    """Mean watts of all GPUs between each two neighbouring edges; of jobs without preemption."""
    total = np.zeros(len(edges) - 1)
    for number, kind in enumerate(schedule.cluster.models):
        mine = np.flatnonzero((schedule.gpu == number) & schedule.ran)
        size = schedule.size[mine]
        times = np.concatenate([schedule.end[mine], schedule.start[mine]])
        order = np.argsort(times, kind="stable")  # ends first, so that no count is too high
        busy = np.concatenate([[0], np.cumsum(np.concatenate([-size, size])[order])])
        watts = np.array(kind.watts)[busy]
        total += _means(times[order], watts, edges)
    return total


def _means(times: Floats, levels: Floats, edges: Floats) -> Floats:
    """Means of a step function: levels[0] before the first time, levels[i + 1] from time i on."""
    if len(times) == 0:
        return np.full(len(edges) - 1, levels[0])
    knots = np.concatenate([[min(edges[0], times[0])], times, [max(edges[-1], times[-1])]])
    # The integral is piecewise linear, so that interpolation is exact.
    area = np.concatenate([[0.0], np.cumsum(levels * np.diff(knots))])
    means: Floats = np.diff(np.interp(edges, knots, area)) / np.diff(edges)
    return means


def busiest(schedule: MigSchedule, length: float) -> tuple[float, float]:
    """The stretch of this length, within the schedule, around the moment when most jobs waited."""
    submit = schedule.trace.jobs.submit
    first, last = float(submit[0]), float(submit[0]) + schedule.span
    if last - first <= length:
        return first, last
    started = schedule.start[~np.isnan(schedule.start)]
    times = np.concatenate([started, submit])
    change = np.concatenate([np.full(len(started), -1), np.ones(len(submit), np.int64)])
    order = np.argsort(times, kind="stable")
    peak = float(times[order][int(np.argmax(np.cumsum(change[order])))])
    begin = min(max(first, peak - length / 2), last - length)
    return begin, begin + length
