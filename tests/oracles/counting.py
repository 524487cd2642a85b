"""Backfilling as the papers define it: processors are only counted, there are no nodes.

EASY is Lifka's (JSSPP 1995) in the words of Mu'alem and Feitelson (IEEE TPDS 12(6), 2001, 2.2):
the first job that does not fit gets the earliest time at which enough processors will be free
(the shadow time); what is free then beyond its need is extra. A later job may start if it fits
now and either ends by the shadow time or takes no more than the extra processors. Conservative
gives such a time to every job in the queue.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

Start = Callable[["Waiting"], None]


@dataclass(frozen=True)
class Waiting:
    """A job in the queue; the lower (score, row) goes first."""

    score: float
    row: int
    submit: float
    run: float
    estimate: float
    processors: int


@dataclass
class Running:
    """A started job; `length` is what the scheduler believes it takes."""

    job: Waiting
    start: float
    length: float

    @property
    def end(self) -> float:
        return self.start + self.job.run

    @property
    def believed_end(self) -> float:
        return self.start + self.length


class Profile:
    """How many processors are free from each of some times on."""

    def __init__(self, now: float, free: int, running: Iterable[Running]) -> None:
        self.times, self.free = [now], [free]
        for job in sorted(running, key=lambda job: job.believed_end):
            if job.believed_end > self.times[-1]:
                self.times.append(job.believed_end)
                self.free.append(self.free[-1])
            self.free[-1] += job.job.processors

    def earliest(self, processors: int, length: float) -> float:
        """The first time from which so many stay free for so long."""
        start = None
        for time, free in zip(self.times, self.free, strict=True):
            if start is not None and time >= start + length:
                break
            if free < processors:
                start = None
            elif start is None:
                start = time
        assert start is not None, "more processors than there are"
        return start

    def take(self, start: float, end: float, processors: int) -> None:
        """Count a job in; `processors` below 0 counts one out."""
        first, last = self._cut(start), self._cut(end)
        for step in range(first, last):
            self.free[step] -= processors

    def _cut(self, time: float) -> int:
        step = bisect_right(self.times, time) - 1
        if self.times[step] == time:
            return step
        self.times.insert(step + 1, time)
        self.free.insert(step + 1, self.free[step])
        return step + 1


class Machine:
    """Processors, the jobs on them and the queue before them."""

    def __init__(self, processors: int) -> None:
        self.free = processors
        self.running: list[Running] = []
        self.queue: list[Waiting] = []

    def start(self, job: Waiting, now: float) -> None:
        assert job.processors <= self.free
        self.free -= job.processors
        self.queue.remove(job)
        self.running.append(Running(job, now, job.estimate))

    def end(self, now: float) -> bool:
        ended = [job for job in self.running if job.end <= now]
        self.running = [job for job in self.running if job.end > now]
        self.free += sum(job.job.processors for job in ended)
        return bool(ended)


def start_in_order(machine: Machine, now: float) -> None:
    """No backfilling: start jobs until one does not fit."""
    while machine.queue and machine.queue[0].processors <= machine.free:
        machine.start(machine.queue[0], now)


def easy(machine: Machine, now: float) -> None:
    """Only the first job that does not fit has a time promised."""
    start_in_order(machine, now)
    if not machine.queue:
        return
    head, *others = machine.queue
    shadow, extra = shadow_of(head, machine)
    for job in others:
        if job.processors > machine.free:
            continue
        if now + job.estimate <= shadow:
            machine.start(job, now)
        elif job.processors <= extra:
            extra -= job.processors
            machine.start(job, now)


def shadow_of(head: Waiting, machine: Machine) -> tuple[float, int]:
    """When the head can start, and how many processors it then leaves."""
    free, shadow = machine.free, math.inf
    for job in sorted(machine.running, key=lambda job: job.believed_end):
        if job.believed_end > shadow:
            break
        free += job.job.processors
        if free >= head.processors:
            shadow = job.believed_end
    return shadow, free - head.processors


def conservative(machine: Machine, now: float) -> None:
    """Every job has a time promised, found anew in the order of the queue."""
    profile = Profile(now, machine.free, machine.running)
    for job in list(machine.queue):
        start = profile.earliest(job.processors, job.estimate)
        profile.take(start, start + job.estimate, job.processors)
        if start == now:
            machine.start(job, now)


Backfill = Callable[[Machine, float], None]


def simulate(jobs: Sequence[Waiting], processors: int, schedule: Backfill) -> list[float]:
    """When each job starts; NaN: it asks for more than there is."""
    machine = Machine(processors)
    starts = [math.nan] * len(jobs)
    pending = sorted(jobs, key=lambda job: (job.submit, job.row), reverse=True)
    pending = [job for job in pending if job.processors <= processors]
    while pending or machine.running:
        times = [job.end for job in machine.running]
        times += [job.believed_end for job in machine.running if job.believed_end < job.end]
        times += [pending[-1].submit] if pending else []
        now = min(times)
        changed = machine.end(now)
        for running in machine.running:
            if running.believed_end <= now:
                running.length *= 2
        while pending and pending[-1].submit == now:
            machine.queue.append(pending.pop())
            changed = True
        if changed:
            machine.queue.sort(key=lambda job: (job.score, job.row))
            before = len(machine.running)
            schedule(machine, now)
            for started in machine.running[before:]:
                starts[started.job.row] = now
    return starts
