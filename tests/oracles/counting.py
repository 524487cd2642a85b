"""Backfilling as the papers define it: processors are only counted, there are no nodes.

EASY is Lifka's (JSSPP 1995) in the words of Mu'alem and Feitelson (IEEE TPDS 12(6), 2001, 2.2):
the first job that does not fit gets the earliest time at which enough processors will be free
(the shadow time); what is free then beyond its need is extra. A later job may start if it fits
now and either ends by the shadow time or takes no more than the extra processors. Conservative
promises such a time to every job when it arrives, keeps the promise, and when jobs end moves
each waiting job, in the order of the queue, as early as the other promises allow.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Job:
    """All that counts of a job."""

    row: int
    submit: float
    run: float
    estimate: float
    processors: int


@dataclass
class Running:
    """A started job; `length` is what the scheduler believes it takes."""

    job: Job
    start: float
    length: float

    def __post_init__(self) -> None:
        self.end = self.start + self.job.run
        self.believed_end = self.start + self.length

    def extend(self) -> None:
        self.length *= 2
        self.believed_end = self.start + self.length


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
        self.queue: list[Job] = []  # the next one first
        self.promised: dict[int, float] = {}  # row: when it is to start
        self.ended = self.extended = False  # since the last pass

    def start(self, job: Job, now: float) -> None:
        assert job.processors <= self.free
        self.free -= job.processors
        self.queue.remove(job)
        self.promised.pop(job.row, None)
        self.running.append(Running(job, now, job.estimate))

    def advance(self, now: float) -> list[Running]:
        """Let jobs end; double what is believed of those that should have ended."""
        ended = [job for job in self.running if job.end <= now]
        self.running = [job for job in self.running if job.end > now]
        self.free += sum(job.job.processors for job in ended)
        self.ended |= bool(ended)
        for job in self.running:
            if job.believed_end <= now:
                job.extend()
                self.extended = True
        return sorted(ended, key=lambda job: job.job.row)


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


def shadow_of(head: Job, machine: Machine) -> tuple[float, int]:
    """When the head can start, and how many processors it then leaves."""
    free, shadow = machine.free, math.inf
    for job in sorted(machine.running, key=lambda job: job.believed_end):
        if job.believed_end > shadow:
            break
        free += job.job.processors
        if free >= head.processors:
            shadow = job.believed_end
    return shadow, free - head.processors


def replanned(machine: Machine, now: float) -> None:
    """Conservative without memory: all promises are made anew, in the order of the queue."""
    profile = Profile(now, machine.free, machine.running)
    for job in list(machine.queue):
        if _promise(profile, job) == now:
            machine.start(job, now)


def conservative(machine: Machine, now: float) -> None:
    """Promises are kept from arrival on, and only ever moved forward.

    They are made anew where an estimate proved too short, because then they cannot all be kept.
    """
    if machine.extended:
        machine.promised.clear()
    profile = Profile(now, machine.free, machine.running)
    for job in machine.queue:
        if job.row in machine.promised:
            start = machine.promised[job.row]
            profile.take(start, start + job.estimate, job.processors)
    for job in machine.queue if machine.ended else ():
        if job.row in machine.promised:
            start = machine.promised[job.row]
            profile.take(start, start + job.estimate, -job.processors)
            machine.promised[job.row] = _promise(profile, job)
            assert machine.promised[job.row] <= start
    for job in machine.queue:
        if job.row not in machine.promised:
            machine.promised[job.row] = _promise(profile, job)
    for job in list(machine.queue):
        if machine.promised[job.row] == now:
            machine.start(job, now)


def _promise(profile: Profile, job: Job) -> float:
    start = profile.earliest(job.processors, job.estimate)
    profile.take(start, start + job.estimate, job.processors)
    return start


Schedule = Callable[[Machine, float], None]


class Order(Protocol):
    """Which job goes first: the lower score, asked on arrival, then the lower row."""

    def score(self, row: int) -> float: ...
    def observe(self, row: int) -> None:
        """A job has ended."""


def simulate(jobs: Sequence[Job], processors: int, schedule: Schedule, order: Order) -> list[float]:
    """When each job starts; NaN: it asks for more than there is.

    A pass is held whenever jobs have ended or come, and at promised times.
    """
    machine = Machine(processors)
    starts, scores = [math.nan] * len(jobs), [math.nan] * len(jobs)
    pending = sorted(jobs, key=lambda job: (job.submit, job.row), reverse=True)
    pending = [job for job in pending if job.processors <= processors]
    while pending or machine.running:
        times = [min(job.end, job.believed_end) for job in machine.running]
        times += machine.promised.values()
        times += [pending[-1].submit] if pending else []
        now = min(times)
        for ended in machine.advance(now):
            order.observe(ended.job.row)
        due = machine.ended or now in machine.promised.values()
        while pending and pending[-1].submit == now:
            job = pending.pop()
            scores[job.row] = order.score(job.row)
            machine.queue.append(job)
            due = True
        if due:
            machine.queue.sort(key=lambda job: (scores[job.row], job.row))
            before = len(machine.running)
            schedule(machine, now)
            for started in machine.running[before:]:
                starts[started.job.row] = now
            machine.ended = machine.extended = False
    return starts
