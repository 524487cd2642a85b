"""A cycle of the live daemon on a real Slurm: 10,000 waiting jobs, 500 nodes.

    python -m benchmarks.run live_cycle

Our share is the processor time of this process: Slurm's programs are others. Active mode sends
all changes in the first cycle; later ones send what has changed since.
"""

from __future__ import annotations

import gc
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from dovetail.live.backends import BACKENDS
from dovetail.live.config import GuardrailConfig, JournalConfig, LiveConfig, SlurmConfig
from dovetail.live.cycle.controller import LiveController
from dovetail.live.journal import Journal
from dovetail.live.model.mode import Mode
from tests.live.slurm import Cluster, Job, NodeGroup, Options

NODES, GPUS = 500, 4
JOBS = 10_000
CYCLES = 10
CHANGES = 1000


def run() -> dict[str, Any]:
    """Cycles in shadow and in active mode, and a thousand changes at once."""
    options = Options(
        nodes=(NodeGroup("a100", count=NODES, gpus=GPUS, cpus=16, memory_mb=128_000),),
        max_jobs=2 * JOBS,
        # Jobs that wait shall wait: nothing is to start while we measure.
        scheduler="bf_max_job_test=100,default_queue_depth=100",
    )
    with Cluster(options) as cluster, tempfile.TemporaryDirectory() as folder:
        _fill(cluster)
        submitted = _queue(cluster)
        config = LiveConfig(
            slurm=SlurmConfig(conf=str(cluster.layout.slurm_conf), timeout=60.0),
            journal=JournalConfig(path=str(Path(folder) / "journal.sqlite")),
            guardrails=GuardrailConfig(changes_per_cycle=CHANGES, changes_per_hour=10**6),
        )
        with Journal.open(config.journal) as journal:
            backend = BACKENDS[config.slurm.backend](config.slurm)
            controller = LiveController(config, backend, journal)
            result = {
                "nodes": NODES,
                "pending": JOBS,
                "submit_seconds": round(submitted, 1),
                "shadow": _cycles(controller),
            }
            controller.enter(Mode.ACTIVE, "measuring")
            result["first_active"] = _one(controller)
            result["active"] = _cycles(controller)
            controller.leave("measured")
    return result


def _fill(cluster: Cluster) -> None:
    """A job on every node, for longer than we take."""
    busy = cluster.submit_array(Job(gpus=GPUS, seconds=7200, minutes=180), NODES)
    cluster.wait_until(
        lambda: sum(state == "RUNNING" for state in cluster.states().values()) >= NODES,
        timeout=300,
    )
    assert busy


def _queue(cluster: Cluster) -> float:
    """Waiting jobs that differ in everything a policy looks at; seconds that it took."""
    draw = np.random.default_rng(0)
    jobs = [
        Job(
            gpus=int(draw.choice([1, 2, 4])),
            seconds=60,
            minutes=int(draw.integers(10, 2000)),
            name=f"job{i}",
        )
        for i in range(JOBS)
    ]
    began = time.perf_counter()
    cluster.submit_many(jobs, parallel=4)
    return time.perf_counter() - began


def _cycles(controller: LiveController) -> dict[str, float]:
    controller.cycle()  # compiles, fills caches
    rows = [_one(controller) for _ in range(CYCLES)]
    return {name: round(statistics.median(row[name] for row in rows), 4) for name in rows[0]} | {
        "most_own_seconds": round(max(row["own_seconds"] for row in rows), 4)
    }


def _one(controller: LiveController) -> dict[str, float]:
    gc.collect()
    gc.disable()  # as the daemon does
    wall, own = time.perf_counter(), time.process_time()
    report = controller.cycle()
    own, wall = time.process_time() - own, time.perf_counter() - wall
    gc.enable()
    return {
        "wall_seconds": wall,
        "own_seconds": own,
        "read_seconds": report.times.read,
        "decide_seconds": report.times.decide,
        "guard_seconds": report.times.guard,
        "act_seconds": report.times.act,
        "sent": report.sent,
        "failed": report.failed,
    }
