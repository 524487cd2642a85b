"""Small builders that keep a test case on one screen."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dovetail.domain.cluster import Cluster, Partition
from dovetail.domain.estimates import Estimates
from dovetail.domain.jobs import JobColumns
from dovetail.domain.trace import Trace


@dataclass(frozen=True)
class JobRow:
    """One job as a test writes it; `repr` shows only what differs from the defaults."""

    submit: float = 0.0
    run: float = 10.0
    gpus: int = 1
    estimate: float | None = None  # None: exact
    limit: float = math.nan
    nodes: int = 0
    cpus: float = 0.0
    memory: float = 0.0
    gpu_type: str | None = None
    partition: str | None = None
    user: str | None = None
    qos: str | None = None
    kind: str | None = None
    mig: str | None = None
    priority: float = 0.0
    deadline: float = math.nan
    exempt: bool = False
    exclusive: bool = False
    account: str | None = None
    constraint: str | None = None
    name: str | None = None
    array: str | None = None
    dependency: str | None = None
    earliest: float = math.nan
    throttle: int = 0
    licenses: str | None = None
    nodelist: str | None = None
    exclude: str | None = None
    reservation: str | None = None

    def __repr__(self) -> str:
        plain = vars(JobRow())
        told = {
            name: value
            for name, value in vars(self).items()
            if name in ("submit", "run", "gpus") or repr(value) != repr(plain[name])
        }
        return f"job({', '.join(f'{name}={value!r}' for name, value in told.items())})"


def job(submit: float = 0.0, run: float = 10.0, gpus: int = 1, **facts: Any) -> JobRow:
    """A job by its submit time, run time and GPUs, and whatever else matters to the case."""
    return JobRow(float(submit), float(run), gpus, **facts)


def trace_of(*rows: JobRow, name: str = "trace") -> Trace:
    """The jobs as a trace, in the order given."""
    columns = {
        column: [getattr(row, column) for row in rows]
        for column in vars(JobRow())
        if column != "estimate"
    }
    return Trace(JobColumns(**columns).build(), name)


def estimates_of(*rows: JobRow) -> Estimates:
    """What the scheduler believes: the estimate of a row, or its run time if it gives none."""
    seconds = [row.run if row.estimate is None else row.estimate for row in rows]
    return Estimates(
        "exact" if all(row.estimate is None for row in rows) else "limit",
        np.array(seconds, np.float64),
    )


def cluster_of(
    spec: str,
    *,
    cpus: Sequence[float] | float = math.inf,
    memory_gb: Sequence[float] | float = math.inf,
    switches: str | None = None,
    partitions: Mapping[str, Iterable[int]] | None = None,
    priorities: Mapping[str, float] | None = None,
    speed: Mapping[str, float] | None = None,
    qos: Mapping[str, float] | None = None,
) -> Cluster:
    """A cluster from `2x8:v100,1x4`; CPUs and memory for all nodes or one by one.

    `switches` names one letter per node: "aab" puts the third node behind another switch.
    """
    nodes = Cluster.parse(spec).nodes
    count = len(nodes)
    each_cpus = [cpus] * count if isinstance(cpus, int | float) else list(cpus)
    each_memory = [memory_gb] * count if isinstance(memory_gb, int | float) else list(memory_gb)
    behind = switches or "a" * count
    return Cluster(
        nodes=tuple(
            replace(node, cpus=each_cpus[i], memory_gb=each_memory[i], switch=behind[i])
            for i, node in enumerate(nodes)
        ),
        partitions=tuple(
            Partition(name, frozenset(members), (priorities or {}).get(name, 1.0))
            for name, members in (partitions or {}).items()
        ),
        speed=dict(speed or {}),
        qos=dict(qos or {}),
        name=spec,
    )
