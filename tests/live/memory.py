"""Dovetail on a cluster in memory: no Slurm, no processes, no waiting."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from dovetail.live.backends.recorded import MemoryCluster, RecordedBackend
from dovetail.live.config import GuardrailConfig, JournalConfig, LiveConfig, MetricsConfig
from dovetail.live.cycle.actuator import Clocks
from dovetail.live.cycle.controller import LiveController
from dovetail.live.journal import Journal
from dovetail.live.ledger.unmarked import UnmarkedFactors
from dovetail.live.model.mode import Mode


def memory_config(folder: Path, **more: Any) -> LiveConfig:
    base = LiveConfig(
        policy="sjf",
        run_dir=str(folder / "run"),
        guardrails=GuardrailConfig(),
        journal=JournalConfig(path=str(folder / "journal.sqlite")),
        metrics=MetricsConfig(port=0),
    )
    return replace(base, **more)


def clocks_of(cluster: MemoryCluster) -> Clocks:
    return Clocks(lambda: cluster.now, lambda: cluster.now)


def full_cluster(minutes: list[int], nodes: int = 2) -> tuple[MemoryCluster, list[int]]:
    """Every GPU is taken for ten hours, and jobs with these limits wait for a whole node each."""
    cluster = MemoryCluster.of_nodes(nodes, gpus=4)
    for _ in range(nodes):
        cluster.submit(gpus=4, limit=36_000.0, priority=5000)
    cluster.advance(1.0)
    jobs = [cluster.submit(gpus=4, limit=60.0 * each) for each in minutes]
    cluster.advance(1.0)
    return cluster, jobs


@contextmanager
def steering_in_memory(
    backend: RecordedBackend,
    folder: Path,
    mode: Mode = Mode.ACTIVE,
    unmarked: UnmarkedFactors | None = None,
    **more: Any,
) -> Iterator[LiveController]:
    """A controller in the given mode; what it leaves behind is the test's business."""
    config = memory_config(folder, **more)
    with Journal.open(config.journal) as journal:
        clocks = clocks_of(backend.cluster)
        controller = LiveController(config, backend, journal, clocks=clocks, unmarked=unmarked)
        controller.enter(mode, "a test wants it")
        yield controller
