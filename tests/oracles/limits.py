"""Limits per user, account, QOS and partition, counted anew each time (semantics, limits)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dovetail.domain.cluster import Cluster
from dovetail.domain.limits import AMOUNTS, LEAST, WORK, Each, Limit
from tests.oracles.shapes import MB_PER_GB, MILLI, Job, open_partitions


@dataclass
class Limits:
    """Who waits and runs, and what they may have."""

    cluster: Cluster
    jobs: Sequence[Job]

    def __post_init__(self) -> None:
        self.width: dict[int, int] = {}  # nodes of each job that waits or runs
        self.running: set[int] = set()
        self.begun: dict[int, float] = {}  # when a running job started

    def tier(self, row: int) -> int:
        parts = open_partitions(self.jobs[row], self.cluster)
        return max((part.tier for part in parts), default=1)

    def applying(self, job: Job) -> list[Limit]:
        return [
            limit
            for limit in self.cluster.limits
            if limit.applies(job.user, job.account, job.qos, job.partition)
        ]

    def binding(self, job: Job, limit: Limit, name: str) -> float:
        """The most of an amount, unless a limit of a lower level says it; of one job, always."""
        if not limit.together:
            return float(getattr(limit, name))
        said = [
            other
            for other in self.applying(job)
            if other.each is limit.each and name in other.amounts
        ]
        if any(other.level < limit.level for other in said):
            return math.inf
        return float(getattr(limit, name))

    def amount(self, row: int, name: str, width: int) -> float:
        job = self.jobs[row]
        gpus, cpus, memory = job.asks
        return {
            "jobs": 1,
            "submitted": 1,
            "gpus": gpus,
            "cpus": cpus / 1000,
            "memory_gb": memory / 1024,
            "nodes": width,
            "minutes": 0.0 if math.isnan(job.limit) else job.limit / 60,
        }[name]

    def counted(self, job: Job, limit: Limit, rows: set[int]) -> list[int]:
        """Of these jobs those that share a counter with this one."""
        return [
            row
            for row in rows
            if limit in self.applying(self.jobs[row])
            and self.whose(self.jobs[row], limit) == self.whose(job, limit)
        ]

    def whose(self, job: Job, limit: Limit) -> str | None:
        if limit.each is Each.ALL:
            return None
        return job.user if limit.each is Each.USER else job.account

    def accepts(self, row: int, width: int) -> bool:
        """Whether the job may be submitted; then it waits."""
        job = self.jobs[row]
        parts = open_partitions(job, self.cluster)
        if parts and not any(part.access.lets_in(job.user, job.account, job.qos) for part in parts):
            return False
        for limit in self.applying(job):
            nodes = width if limit.each is Each.NODE else 1
            for name in AMOUNTS:
                if self.amount(row, name, width) > self.binding(job, limit, name) * nodes:
                    return False
            for name in WORK:
                done = self.work(row, name, self.seconds(row), width)
                if done > self.most_work(job, limit, name):
                    return False
            for name in LEAST:
                if self.amount(row, name.removeprefix("least_"), width) < getattr(limit, name):
                    return False
            if limit.together:
                others = self.counted(job, limit, set(self.width))
                if len(others) + 1 > self.binding(job, limit, "submitted"):
                    return False
        if any(count > self.cluster.licenses[name] for name, count in self.licenses(row).items()):
            return False
        self.width[row] = width
        return True

    def licenses(self, row: int) -> dict[str, int]:
        """How many of each the job holds, of those that are counted."""
        parts = [part.split(":") for part in (self.jobs[row].licenses or "").split(",") if part]
        held = {name: int(count[0]) if count else 1 for name, *count in parts}
        return {name: count for name, count in held.items() if name in self.cluster.licenses}

    def seconds(self, row: int) -> int:
        """The job's time limit; unknown: its work is not counted."""
        limit = self.jobs[row].limit
        return 0 if math.isnan(limit) else math.floor(limit)

    def work(self, row: int, name: str, seconds: int, width: int) -> int:
        """What a job has, in whole small units, times so many seconds."""
        gpus, cpus, memory = self.jobs[row].asks
        own = {"gpu": gpus, "cpu": cpus, "memory_gb": memory, "node": width}
        return own[name.removesuffix("_minutes")] * seconds

    def most_work(self, job: Job, limit: Limit, name: str) -> float:
        """What of it is allowed, in the same units."""
        units = {"cpu_minutes": MILLI, "memory_gb_minutes": MB_PER_GB}.get(name, 1)
        return self.binding(job, limit, name) * (60 * units)

    def left(self, row: int, now: float) -> int:
        """Whole seconds for which a running job may go on."""
        first = self.jobs[0].submit
        stop = math.floor(self.begun[row] - first) + self.seconds(row)
        return max(0, stop - math.floor(now - first))

    def reached(self, row: int, now: float) -> bool:
        """Whether the job, if it ran from now on, would exceed a limit."""
        job = self.jobs[row]
        for name, wanted in self.licenses(row).items():
            held = sum(self.licenses(other).get(name, 0) for other in self.running)
            if held + wanted > self.cluster.licenses[name]:
                return True
        for limit in self.applying(job):
            if not limit.together:
                continue
            rows = [*self.counted(job, limit, self.running), row]
            for name in AMOUNTS[:1] + AMOUNTS[2:6]:
                used = sum(self.amount(other, name, self.width[other]) for other in rows)
                if used > self.binding(job, limit, name):
                    return True
            for name in WORK if not math.isnan(job.limit) else ():
                done = self.work(row, name, self.seconds(row), self.width[row]) + sum(
                    self.work(other, name, self.left(other, now), self.width[other])
                    for other in rows[:-1]
                )
                if done > self.most_work(job, limit, name):
                    return True
        return False

    def start(self, row: int, now: float) -> None:
        self.running.add(row)
        self.begun[row] = now

    def stop(self, row: int) -> None:
        """It waits again."""
        self.running.remove(row)

    def end(self, row: int) -> None:
        self.running.remove(row)
        del self.width[row]
