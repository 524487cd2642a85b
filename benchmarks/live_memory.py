"""Whether the daemon's memory stays flat: ten thousand cycles on a queue that comes and goes.

python -m benchmarks.live_memory

The cycles are the controller's own, in active mode, with a journal on disk; only Slurm is made up:
a stream of queues in which jobs arrive, start and end, and whose site factors are what was sent.
"""

from __future__ import annotations

import gc
import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dovetail.live.config import GuardrailConfig, JournalConfig, LiveConfig
from dovetail.live.cycle.actuator import Clocks
from dovetail.live.cycle.controller import LiveController
from dovetail.live.journal import Journal
from dovetail.live.model.decision import Change, Knob, Result
from dovetail.live.model.mode import Mode
from dovetail.live.model.site import SiteSettings
from dovetail.live.model.snapshot import Factor, LiveJob, LiveNode, LivePartition, Snapshot
from dovetail.live.service.metrics.endpoint import Metrics

CYCLES, FIRST = 10_000, 1_000
PERIOD = 60.0
"""Seconds between two readings."""

NODES, GPUS, WAITING = 20, 8, 200


class Stream:
    """A backend whose queue moves on with every reading."""

    name = "stream"

    def __init__(self, seed: int = 0) -> None:
        self._draw = np.random.default_rng(seed)
        self.now = 1_700_000_000.0
        self._next = 1
        self._jobs: dict[int, LiveJob] = {}
        self._site: dict[int, int] = {}
        self._ended: list[LiveJob] = []
        self._nodes = tuple(
            LiveNode(f"n{i}", "MIXED", gpus=GPUS, gpu_type="a100", cpus=64.0, memory_gb=512.0,
                     partitions=("gpu",))
            for i in range(NODES)
        )  # fmt: skip

    def read(self) -> Snapshot:
        self.now += PERIOD
        self._end()
        self._start()
        self._arrive()
        return Snapshot(
            self.now,
            (*self._jobs.values(), *self._ended),
            self._nodes,
            (LivePartition("gpu", tuple(node.name for node in self._nodes)),),
            factors=self.factors(),
        )

    def _end(self) -> None:
        over = [
            job for job in self._jobs.values() if job.running and job.start + job.limit <= self.now
        ]
        self._ended = [job._replace(state="COMPLETED", end=self.now) for job in over]
        for job in over:
            del self._jobs[job.id]
            self._site.pop(job.id, None)

    def _start(self) -> None:
        free = {node.name: node.gpus for node in self._nodes}
        for job in self._jobs.values():
            if job.running:
                free[job.hosts[0]] -= job.gpus
        waiting = [job for job in self._jobs.values() if job.pending]
        for job in sorted(waiting, key=lambda each: -self._priority(each)):
            host = next((name for name, left in free.items() if left >= job.gpus), None)
            if host is not None:
                free[host] -= job.gpus
                self._jobs[job.id] = job._replace(state="RUNNING", start=self.now, hosts=(host,))

    def _arrive(self) -> None:
        waiting = sum(job.pending for job in self._jobs.values())
        for _ in range(max(0, WAITING - waiting + int(self._draw.integers(-20, 20)))):
            number, self._next = self._next, self._next + 1
            self._jobs[number] = LiveJob(
                number,
                str(number),
                "PENDING",
                "Priority",
                name=f"job {number}",
                user=f"user{number % 40}",
                partitions=("gpu",),
                submit=self.now,
                eligible=self.now,
                limit=float(self._draw.integers(1, 120)) * 60.0,
                gpus=int(self._draw.choice([1, 2, 4, 8])),
                priority=int(self._draw.integers(1000, 20_000)),
            )

    def _priority(self, job: LiveJob) -> int:
        return job.priority + self._site.get(job.id, 0)

    def factors(self) -> Mapping[int, Factor]:
        return {
            job.id: Factor(self._priority(job), self._site.get(job.id, 0), False)
            for job in self._jobs.values()
            if job.pending
        }

    def apply(self, changes: Sequence[Change]) -> list[Result]:
        for change in changes:
            if change.knob is Knob.SITE_FACTOR and change.job in self._jobs:
                self._site[change.job] = int(change.after or 0)
        return [Result(change) for change in changes]

    def settings(self) -> Mapping[str, str]:
        return {}

    def site(self) -> SiteSettings:
        return SiteSettings()


def resident() -> float:
    """Megabytes of this process in memory."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 1e6


def run(say: Callable[[str], None] = print, cycles: int = CYCLES) -> dict[str, Any]:
    stream = Stream()
    seen: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        journal = JournalConfig(path=f"{folder}/journal.sqlite", max_mb=20.0)
        # The stream's hours pass in seconds: by the steady clock all changes fall into one.
        guardrails = GuardrailConfig(
            changes_per_hour=10**9, clock_jump=1e12, vanished_jobs=10**6, starvation_floor=1e9
        )
        config = LiveConfig(policy="sjf", guardrails=guardrails, journal=journal)
        with Journal.open(journal) as opened, Metrics(config.metrics) as metrics:
            clocks = Clocks(wall=lambda: stream.now)
            controller = LiveController(config, stream, opened, clocks=clocks)
            controller.enter(Mode.ACTIVE, "the benchmark")
            sent = 0
            for number in range(1, cycles + 1):
                report = controller.cycle()
                metrics.observe(report)
                sent += report.sent
                if number in (min(FIRST, cycles // 10), cycles):
                    seen[str(number)] = round(resident(), 1)
                    say(f"{number:,} cycles: {seen[str(number)]} MB")
    first, last = seen.values()
    return {
        "cycles": cycles,
        "jobs": stream._next - 1,
        "waiting": WAITING,
        "changes_sent": sent,
        "megabytes_at_cycle": seen,
        "growth_megabytes": round(last - first, 1),
    }


if __name__ == "__main__":
    result = run()
    path = Path(__file__).parent / "results" / "live_memory.json"
    path.write_text(json.dumps(result, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    print(json.dumps(result, indent=1))
