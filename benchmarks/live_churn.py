"""Updates that the daemon sends: 1,000 waiting jobs, an arrival and about a start in every cycle.

    python -m benchmarks.run live_churn

The whole controller in active mode on a cluster in memory, a minute of its time in each cycle. The
first cycle, which brings the whole queue into order, is told apart.
"""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from dovetail.live.backends.recorded import MemoryCluster, RecordedBackend
from dovetail.live.config import GuardrailConfig, JournalConfig, LiveConfig
from dovetail.live.cycle.actuator import Clocks
from dovetail.live.cycle.controller import LiveController
from dovetail.live.journal import Journal
from dovetail.live.model.mode import Mode

WAITING, CYCLES = 1000, 100
NODES, GPUS = 16, 8
MINUTE = 60.0
POLICIES = ("sjf", "saf", "wfp3", "dovetail")
"""The first two give a job one score for ever; those of the others change as it waits."""


class Queue:
    """Jobs of all sizes, whose own priority grows by a point a minute."""

    def __init__(self, seed: int) -> None:
        self.cluster = MemoryCluster.of_nodes(NODES, GPUS)
        self._draw = np.random.default_rng(seed)
        for _ in range(WAITING + 30):
            self.arrive()
        self.cluster.advance(MINUTE)

    def arrive(self) -> None:
        gpus = int(self._draw.choice([1, 2, 4, 8]))
        # As much work as the cluster does in a minute: about one start for each arrival.
        run = NODES * GPUS * MINUTE / gpus * float(self._draw.exponential())
        self.cluster.submit(
            gpus=gpus,
            limit=float(self._draw.choice([15, 60, 240, 720, 1440])) * MINUTE,
            run=run,
            priority=1000 + int(self._draw.integers(0, 5000)),
            user=f"user{int(self._draw.integers(40))}",
        )

    def pass_time(self) -> None:
        self.cluster.advance(MINUTE)
        self.arrive()


def run() -> dict[str, Any]:
    """Updates in each cycle, by policy."""
    return {"waiting": WAITING, "cycles": CYCLES} | {name: _updates(name) for name in POLICIES}


def _updates(policy: str) -> dict[str, float]:
    queue = Queue(0)
    backend, cluster = RecordedBackend(queue.cluster), queue.cluster
    with tempfile.TemporaryDirectory() as folder:
        config = LiveConfig(
            policy=policy,
            journal=JournalConfig(path=str(Path(folder) / "journal.sqlite")),
            guardrails=GuardrailConfig(changes_per_hour=10**6),
        )
        with Journal.open(config.journal) as journal:
            clocks = Clocks(lambda: cluster.now, lambda: cluster.now)
            controller = LiveController(config, backend, journal, clocks=clocks)
            controller.enter(Mode.ACTIVE, "measuring")
            sent = []
            for _ in range(CYCLES + 1):
                sent.append(controller.cycle().sent)
                queue.pass_time()
    first, *later = sent
    return {
        "first": first,
        "mean": round(statistics.mean(later), 2),
        "median": statistics.median(later),
        "most": max(later),
    }
