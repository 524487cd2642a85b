"""A schedule over time, in equal steps: use of each partition, and how long jobs wait."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dovetail.domain.cluster import Cluster
from dovetail.domain.jobs import Floats, Ints
from dovetail.domain.schedule import Schedule

STEPS = 120
"""Points of a curve: enough for days of a month, few enough to be seen one by one."""


@dataclass(frozen=True, slots=True)
class UsageOverTime:
    """From the first submission to the last; what runs on after it is not seen."""

    days: tuple[float, ...]  # since the first submission, the middle of each step
    utilisation: tuple[tuple[str, tuple[float, ...]], ...]  # by partition: share of its GPUs in use
    wait: tuple[float, ...]  # mean seconds of the jobs submitted in each step; NaN: there are none


def timeline_of(schedule: Schedule, steps: int = STEPS) -> UsageOverTime:
    """The curves of a schedule; without partitions GPU types stand in for them."""
    submit = schedule.trace.jobs.submit
    first, last = float(submit[0]), float(submit[-1])
    edges = np.linspace(first, max(last, first + 1.0), steps + 1)
    parts = tuple(
        (name, tuple(busy_share_of(schedule, nodes, edges).tolist()))
        for name, nodes in parts_of(schedule.cluster)
    )
    middle = (edges[:-1] + np.diff(edges) / 2 - first) / 86_400.0
    return UsageOverTime(tuple(middle.tolist()), parts, tuple(_waits(schedule, edges).tolist()))


def parts_of(cluster: Cluster) -> tuple[tuple[str, Ints], ...]:
    """Rows of the nodes of each partition, or of each GPU type."""
    if cluster.partitions:
        return tuple((part.name, np.array(sorted(part.nodes))) for part in cluster.partitions)
    types = np.array([node.gpu_type for node in cluster.nodes])
    return tuple((str(name), np.flatnonzero(types == name)) for name in cluster.gpu_types)


def busy_share_of(schedule: Schedule, nodes: Ints, edges: Floats) -> Floats:
    """Mean share of the GPUs of some nodes in use between each two neighbouring edges."""
    job = np.repeat(np.arange(len(schedule.start)), np.diff(schedule.chunk_offset))
    here = np.flatnonzero(np.isin(schedule.chunk_node, nodes))
    gpus = np.bitwise_count(schedule.chunk_gpus[here]).astype(np.float64)
    start, end = schedule.start[job[here]], schedule.end[job[here]]
    total = sum(schedule.cluster.nodes[node].gpus for node in nodes.tolist())
    # GPU seconds used up to a time are piecewise linear, so that sums over chunks are exact.
    times = np.concatenate([start, end])
    order = np.argsort(times, kind="stable")
    times, busy = times[order], np.cumsum(np.concatenate([gpus, -gpus])[order])
    if len(times) == 0:
        return np.zeros(len(edges) - 1)
    area = np.concatenate([[0.0], np.cumsum(busy[:-1] * np.diff(times))])
    used = np.diff(np.interp(edges, times, area))
    share: Floats = used / (np.diff(edges) * max(1, total))
    return share


def _waits(schedule: Schedule, edges: Floats) -> Floats:
    ran = schedule.ran
    at = np.clip(np.searchsorted(edges, schedule.since[ran], "right") - 1, 0, None)
    at = np.minimum(at, len(edges) - 2)
    count = np.bincount(at, minlength=len(edges) - 1)
    total = np.bincount(at, schedule.wait[ran], minlength=len(edges) - 1)
    means: Floats = np.divide(total, count, out=np.full(len(count), np.nan), where=count > 0)
    return means
