"""A cycle of the live daemon on a real Slurm: 10,000 waiting jobs, 500 nodes.

    python -m benchmarks.run live_cycle
    python -m benchmarks.live_cycle --recorded   # without Slurm, prints and writes nothing

Our share is the processor time of this process: Slurm's programs are others. Active mode sends
all changes in the first cycle; later ones send what has changed since. `recorded` is the same on
answers that small programs tell instead of Slurm (`recorded_slurm.py`), repeatable anywhere:
there all priorities change from cycle to cycle, and a few jobs start, end and come.
"""

from __future__ import annotations

import gc
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.recorded_slurm import RecordedSlurm
from dovetail.live.backends import BACKENDS
from dovetail.live.config import GuardrailConfig, JournalConfig, LiveConfig, SlurmConfig
from dovetail.live.cycle.controller import LiveController
from dovetail.live.journal import Journal
from dovetail.live.model.mode import Mode
from tests.live.slurm import Cluster, Job, NodeGroup, Options

NODES, GPUS = 500, 4
JOBS = 10_000
CYCLES = 10
RECORDED_CYCLES = 30
CHANGES = 1000


def run() -> dict[str, Any]:
    """Cycles in shadow and in active mode, and a thousand changes at once."""
    return {**_real(), "recorded": recorded()}


def recorded() -> dict[str, Any]:
    """The same on recorded answers, and with time that passes between two cycles."""
    with tempfile.TemporaryDirectory() as folder:
        slurm = RecordedSlurm(Path(folder), JOBS, NODES, GPUS)
        return _measured(SlurmConfig(bin=folder, timeout=60.0), slurm.pass_time, RECORDED_CYCLES)


def _real() -> dict[str, Any]:
    options = Options(
        nodes=(NodeGroup("a100", count=NODES, gpus=GPUS, cpus=16, memory_mb=128_000),),
        max_jobs=2 * JOBS,
        # Jobs that wait shall wait: nothing is to start while we measure.
        scheduler="bf_max_job_test=100,default_queue_depth=100",
    )
    with Cluster(options) as cluster:
        _fill(cluster)
        submitted = _queue(cluster)
        slurm = SlurmConfig(conf=str(cluster.layout.slurm_conf), timeout=60.0)
        return {
            "nodes": NODES,
            "pending": JOBS,
            "submit_seconds": round(submitted, 1),
            **_measured(slurm, lambda: None, CYCLES),
        }


def _measured(slurm: SlurmConfig, between: Callable[[], None], cycles: int) -> dict[str, Any]:
    """Cycles in both modes; `between` is what happens from one to the next."""
    with tempfile.TemporaryDirectory() as folder:
        config = LiveConfig(
            slurm=slurm,
            journal=JournalConfig(path=str(Path(folder) / "journal.sqlite")),
            guardrails=GuardrailConfig(changes_per_cycle=CHANGES, changes_per_hour=10**6),
        )
        with Journal.open(config.journal) as journal:
            backend = BACKENDS[config.slurm.backend](config.slurm)
            controller = LiveController(config, backend, journal)
            controller.cycle()  # compiles, fills caches
            gc.collect()
            gc.freeze()  # as the daemon does
            shadow = _cycles(controller, between, cycles)
            controller.enter(Mode.ACTIVE, "measuring")
            between()
            result = {"shadow": shadow, "first_active": _one(controller)}
            result["active"] = _cycles(controller, between, cycles)
            controller.leave("measured")
            gc.unfreeze()
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


def _cycles(
    controller: LiveController, between: Callable[[], None], count: int
) -> dict[str, float]:
    rows = []
    for _ in range(count):
        between()
        rows.append(_one(controller))
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


if __name__ == "__main__":
    measured = recorded() if sys.argv[1:] == ["--recorded"] else run()
    print(json.dumps(measured, indent=1, sort_keys=True))
