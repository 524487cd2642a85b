"""A queue and its nodes in memory: jobs come, start by priority, end, and are changed.

>>> cluster = MemoryCluster.of_nodes(2, gpus=4)
>>> job = cluster.submit(gpus=4, limit=600.0, priority=900)
>>> cluster.advance(60.0)  # ends what is over, starts what fits, highest first
>>> cluster.job(job).state
'RUNNING'

What an operator does is a method each: hold, release, cancel, requeue, set a value by hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail.live.model.decision import Change, Knob
from dovetail.live.model.snapshot import Factor, LiveJob, LiveNode, LivePartition, Snapshot

START = 1_700_000_000.0
"""When the cluster's clock begins, seconds since 1970."""

REMEMBERED = 300.0
"""Seconds for which an ended job is still shown: Slurm's MinJobAge."""

FINISHED = "Job has already finished"
UNKNOWN = "Invalid job id specified"
HELD = "Job is in held state, pending scheduler release"


class MemoryCluster:
    """The truth, which a backend tells more or less well."""

    def __init__(self, nodes: Sequence[LiveNode], now: float = START) -> None:
        self.now = now
        self.nodes = tuple(nodes)
        self.qos: dict[str, int] = {}  # what each QOS adds to a priority
        self.site: dict[int, int] = {}  # site factors that are not 0
        self.frozen: dict[int, int] = {}  # priorities set by hand, or by us
        self._jobs: dict[int, LiveJob] = {}
        self._run: dict[int, float] = {}  # seconds that a job will run
        self._held: set[int] = set()
        self._next = 1

    @classmethod
    def of_nodes(cls, count: int, gpus: int) -> MemoryCluster:
        """Nodes that are all alike, in one partition."""
        return cls(
            [
                LiveNode(f"node-{i + 1}", "IDLE", gpus=gpus, cpus=64.0, memory_gb=512.0,
                         partitions=("gpu",))
                for i in range(count)
            ]
        )  # fmt: skip

    # -- users

    def submit(
        self,
        gpus: int = 1,
        limit: float = 3600.0,
        run: float | None = None,
        priority: int = 1000,
        **facts: Any,
    ) -> int:
        """A job that will run for `run` seconds, by default as long as it may; its number."""
        number, self._next = self._next, self._next + 1
        plain = {"user": "ada", "account": "lab", "partitions": ("gpu",), **facts}
        self._jobs[number] = LiveJob(
            number, str(number), "PENDING", "Priority", submit=self.now, eligible=self.now,
            limit=limit, gpus=gpus, priority=priority, **plain,
        )  # fmt: skip
        self._run[number] = limit if run is None else min(run, limit)
        return number

    # -- time

    def advance(self, seconds: float) -> None:
        """Let time pass: what is over ends, what fits starts."""
        self.now += seconds
        for number, job in [*self._jobs.items()]:
            if job.running and job.start + self._run[number] <= self.now:
                self.end(number, job.start + self._run[number])
            elif not (job.running or job.pending) and job.end + REMEMBERED < self.now:
                self.forget(number)
        self._start_what_fits()

    def _start_what_fits(self) -> None:
        free = {node.name: node.gpus for node in self.nodes if node.usable}
        for job in self.running():
            free[job.hosts[0]] -= job.gpus
        features = {node.name: node.features for node in self.nodes}
        for job in self.in_line():
            suits = (
                name
                for name, left in free.items()
                if left >= job.gpus and (not job.features or job.features in features[name])
            )
            host = next(suits, None)
            if host is not None:
                free[host] -= job.gpus
                self.start(job.id, host)

    def running(self) -> list[LiveJob]:
        return [job for job in self._jobs.values() if job.running]

    def in_line(self) -> list[LiveJob]:
        """Jobs that may start, the first to go first."""
        waiting = [job for job in self._jobs.values() if job.pending and job.id not in self._held]
        return sorted(waiting, key=lambda each: (-self.priority(each.id), each.id))

    def start(self, job: int, host: str) -> None:
        self._jobs[job] = self._jobs[job]._replace(
            state="RUNNING", reason="", start=self.now, hosts=(host,)
        )

    def end(self, job: int, when: float | None = None) -> None:
        """A job is over, by default now."""
        end = self.now if when is None else when
        self._jobs[job] = self._jobs[job]._replace(state="COMPLETED", end=end)

    # -- operators

    def hold(self, job: int) -> None:
        self._held.add(job)

    def release(self, job: int) -> None:
        self._held.discard(job)
        self.frozen.pop(job, None)

    def set_site(self, job: int, value: int) -> None:
        if value:
            self.site[job] = value
        else:
            self.site.pop(job, None)

    def freeze(self, job: int, priority: int) -> None:
        self.frozen[job] = priority

    def cancel(self, job: int) -> None:
        self._jobs[job] = self._jobs[job]._replace(state="CANCELLED", end=self.now)

    def requeue(self, job: int) -> None:
        """Back into the queue with everything that was set of it, as Slurm does it."""
        was = self._jobs[job]
        self._jobs[job] = was._replace(
            state="PENDING", reason="Priority", hosts=(), restarts=was.restarts + 1
        )

    def forget(self, job: int) -> None:
        """As if MinJobAge had passed unseen."""
        del self._jobs[job], self._run[job]
        self.site.pop(job, None)
        self.frozen.pop(job, None)

    # -- what Slurm tells and takes

    def priority(self, job: int) -> int:
        if job in self._held:
            return 0
        own = self._jobs[job].priority + self.qos.get(self._jobs[job].qos, 0)
        own += self.site.get(job, 0)
        return self.frozen.get(job, max(1, own))

    def factors(self) -> dict[int, Factor]:
        return {
            job.id: Factor(
                self.priority(job.id),
                self._shown_site(job.id),
                job.id in self.frozen,
                0 if job.id in self.frozen else self.qos.get(job.qos, 0),
            )
            for job in self._jobs.values()
            if job.pending and job.id not in self._held
        }

    def _shown_site(self, job: int) -> int:
        """Of a frozen job Slurm shows no factor at all."""
        return 0 if job in self.frozen else self.site.get(job, 0)

    def job(self, number: int) -> LiveJob:
        return self._jobs[number]

    def snapshot(self) -> Snapshot:
        jobs = tuple(
            job._replace(
                priority=self.priority(job.id),
                reason="JobHeldAdmin" if job.id in self._held else job.reason,
            )
            if job.pending
            else job
            for job in self._jobs.values()
        )
        partition = LivePartition("gpu", tuple(node.name for node in self.nodes))
        return Snapshot(
            self.now, jobs, self.nodes, (partition,), factors=self.factors(), qos=tuple(self.qos)
        )

    def take(self, change: Change) -> str:
        """Make a change as scontrol would; its complaint, or nothing."""
        job = self._jobs.get(change.job)
        if job is None:
            return UNKNOWN
        if not (job.pending or job.running):
            return FINISHED
        if change.knob is Knob.SITE_FACTOR and isinstance(change.after, int):
            self.set_site(job.id, change.after)
        elif change.knob is Knob.PRIORITY:
            if change.after is None:
                self.release(job.id)
            elif job.id in self._held:
                return HELD
            elif isinstance(change.after, int):
                self.freeze(job.id, change.after)
        elif change.knob is Knob.NODE:
            wants = (str(change.after),) if change.after else ()
            self._jobs[job.id] = job._replace(wants=wants)
        elif change.knob is Knob.FEATURES:
            self._jobs[job.id] = job._replace(features=str(change.after))
        return ""
