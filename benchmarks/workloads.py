"""The workloads that are measured: real traces where they are at hand, synthetic ones always."""

from __future__ import annotations

import os
from pathlib import Path

from dovetail.domain.cluster import Cluster
from dovetail.domain.trace import Trace
from dovetail.traces.reader import read_trace
from dovetail.traces.synthetic import WORKLOADS, synthesize

REAL = {
    # name: (file, reference nodes, nodes with thousands waiting, nodes with hardly any queue)
    "philly": ("philly_full.parquet", 220, 150, 400),
    "venus": ("helios_venus.parquet", 80, 60, 120),
    "pai": ("pai2020_sample.parquet", 80, 45, 200),
}
GPUS_PER_NODE = 8


def folder() -> Path:
    """Where real traces lie: DOVETAIL_TRACES, or `shared/traces` beside the project."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "traces"
    return Path(os.environ.get("DOVETAIL_TRACES", beside))


def real_traces() -> dict[str, Trace]:
    """Those of the real traces that are at hand."""
    return {
        name: read_trace(folder() / file, repair=("all",))
        for name, (file, *_) in REAL.items()
        if (folder() / file).exists()
    }


def synthetic(nodes: int, jobs: int, load: float) -> Trace:
    """A Helios-like workload for so many nodes; the same jobs for every size, arriving faster."""
    return synthesize(
        WORKLOADS["helios"], jobs=jobs, seed=1, load=load, cluster_gpus=nodes * GPUS_PER_NODE
    )


def cluster(nodes: int) -> Cluster:
    return Cluster.parse(f"{nodes}x{GPUS_PER_NODE}")
