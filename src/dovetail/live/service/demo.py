"""The whole daemon on a cluster in memory with generated jobs: no Slurm, no root, no waiting.

Every cycle is a minute of the cluster's own time. The folder is left with the journal in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
from prometheus_client import generate_latest

from dovetail.live.backends.recorded import MemoryCluster, RecordedBackend
from dovetail.live.config import GuardrailConfig, JournalConfig, LiveConfig, MetricsConfig
from dovetail.live.cycle.actuator import Clocks
from dovetail.live.journal import JournalReader
from dovetail.live.model.mode import Mode
from dovetail.live.service.daemon import Daemon
from dovetail.live.service.metrics.endpoint import Metrics

NODES, GPUS = 8, 4
MINUTE = 60.0
SHOWN_METRICS = ("dovetail_cycles_total", "dovetail_changes_sent_total", "dovetail_jobs_managed",
                 "dovetail_pending_jobs", "dovetail_running_gpus", "dovetail_mode")  # fmt: skip


class GeneratedBackend(RecordedBackend):
    """A cluster on which jobs come, start and end as minutes pass."""

    def __init__(self, seed: int) -> None:
        super().__init__(MemoryCluster.of_nodes(NODES, GPUS))
        self._draw = np.random.default_rng(seed)
        self._come(120)
        self.pass_time()

    def pass_time(self) -> None:
        """A minute."""
        self.cluster.advance(MINUTE)
        self._come(int(self._draw.poisson(1.0)))

    def settings(self) -> Mapping[str, str]:
        return {**super().settings(), "ClusterName": "demo"}

    def _come(self, count: int) -> None:
        for _ in range(count):
            limit = float(self._draw.choice([5, 15, 60, 240, 720])) * MINUTE
            self.cluster.submit(
                gpus=int(self._draw.choice([1, 1, 2, 4])),
                limit=limit,
                run=limit * float(self._draw.uniform(0.1, 1.0)),
                priority=1000 + int(self._draw.integers(0, 100)),
                user=f"user{int(self._draw.integers(8))}",
            )


def demo_config(folder: Path) -> LiveConfig:
    """Active mode, everything in one folder, no port."""
    return LiveConfig(
        mode=Mode.ACTIVE,
        policy="sjf",
        period=MINUTE,
        run_dir=str(folder / "run"),
        guardrails=GuardrailConfig(displacement=100),
        journal=JournalConfig(path=str(folder / "journal.sqlite")),
        metrics=MetricsConfig(port=0),
    )


def run_demo(folder: Path, cycles: int, seed: int) -> Iterator[str]:
    """Run the daemon for so many cycles; afterwards, line by line, what it left behind."""
    config = demo_config(folder)
    backend, metrics = GeneratedBackend(seed), Metrics(config.metrics)
    clocks = Clocks(lambda: backend.cluster.now, lambda: backend.cluster.now)
    Daemon(config, backend=backend, clocks=clocks, metrics=metrics, pause=backend.pass_time).run(
        cycles
    )
    yield "the journal's last cycles:"
    with JournalReader.open(Path(config.journal.path)) as past:
        for number, record in past.cycles(last=3):
            yield f"  {number}: {record.sentence}"
        yield "some of what was sent, with the reason of each:"
        for action in past.actions(*(change.job for change in backend.sent[:3]))[:5]:
            yield f"  job {action.label}: {action.knob.value} {action.after}, {action.reason}"
    yield "metrics, as Prometheus would read them:"
    for line in generate_latest(metrics.registry).decode().splitlines():
        if line.startswith(SHOWN_METRICS):
            yield f"  {line}"
    jobs = backend.cluster.snapshot().by_id
    left = [job for job in backend.cluster.site if jobs[job].pending or jobs[job].running]
    yield f"jobs that still have a factor of ours: {len(left)}"
