"""Live jobs, nodes and snapshots in a line each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from dovetail.live.model.snapshot import Factor, LiveJob, LiveNode, LivePartition, Snapshot

NOW = 1_700_000_000.0


def waiting(
    number: int, gpus: int = 1, limit: float = 3600.0, ago: float = 60.0, **more: Any
) -> LiveJob:
    """A job in the queue, submitted `ago` seconds before now."""
    facts: dict[str, Any] = {
        "reason": "Priority", "user": "ada", "account": "lab", "partitions": ("gpu",),
        "submit": NOW - ago, "eligible": NOW - ago, "priority": 1000, **more,
    }  # fmt: skip
    return LiveJob(number, str(number), "PENDING", gpus=gpus, limit=limit, **facts)


def running(
    number: int, host: str, gpus: int = 1, limit: float = 3600.0, ago: float = 60.0, **more: Any
) -> LiveJob:
    """A job on one node since `ago` seconds."""
    facts: dict[str, Any] = {
        "user": "ada", "account": "lab", "partitions": ("gpu",), "submit": NOW - ago - 1,
        "eligible": NOW - ago - 1, "start": NOW - ago, "hosts": (host,), **more,
    }  # fmt: skip
    return LiveJob(number, str(number), "RUNNING", gpus=gpus, limit=limit, **facts)


def node(name: str, gpus: int = 4, gpu_type: str = "p100", **more: Any) -> LiveNode:
    facts: dict[str, Any] = {"cpus": 64.0, "memory_gb": 512.0, "partitions": ("gpu",), **more}
    return LiveNode(name, facts.pop("state", "IDLE"), gpus=gpus, gpu_type=gpu_type, **facts)


def snapshot(
    jobs: Iterable[LiveJob],
    nodes: Iterable[LiveNode] = (),
    site: dict[int, int] | None = None,
    **more: Any,
) -> Snapshot:
    """A queue whose priorities are those of the jobs; `site` names jobs that have a factor."""
    jobs, nodes = tuple(jobs), tuple(nodes) or (node("p100-1"), node("p100-2"))
    factors = {
        job.id: Factor(job.priority, (site or {}).get(job.id, 0), False)
        for job in jobs
        if job.pending
    }
    facts: dict[str, Any] = {
        "time": NOW,
        "partitions": (
            LivePartition("gpu", tuple(n.name for n in nodes)),
            LivePartition("debug"),
            LivePartition("other"),
        ),
        "factors": factors,
        **more,
    }
    return Snapshot(jobs=jobs, nodes=nodes, **facts)


def large(jobs: int = 10_000, nodes: int = 500, seed: int = 0) -> Snapshot:
    """A deep queue on a large cluster, every node half full."""
    draw = np.random.default_rng(seed)
    machines = [node(f"g{i:03}", 8, "a100" if i % 2 else "v100") for i in range(nodes)]
    busy = [running(i + 1, f"g{i:03}", 4, ago=float(draw.integers(1, 3000))) for i in range(nodes)]
    queue = [
        waiting(
            100_000 + i,
            int(draw.choice([1, 2, 4, 8, 16])),
            float(draw.integers(1, 2000)) * 60,
            float(draw.integers(1, 90_000)),
            user=f"user{draw.integers(200)}",
            priority=int(draw.integers(1, 20_000)),
        )
        for i in range(jobs)
    ]
    return snapshot([*busy, *queue], machines)
