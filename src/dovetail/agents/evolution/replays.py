"""Replays to learn from: parts of a history on clusters of several sizes, with SAF's result.

    replays = make_replays(trace, cluster, count=12, length=40_000, seed=0)
    replays[0].score(ordering, placement)      # Score(wait=-0.08, bsld=-0.12): both better

A mean over a history is made by a few congested weeks, and one job started a second later can
make one of them twice as good or bad. So a replay is cut into parts of equal size, and what counts
is the mean logarithm of their ratios to what SAF with EASY backfilling makes of the same jobs: each
part counts alike, and noise is averaged away. The rival is always the same, since the luckiest of
several heuristics would be another one in each replay.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from dovetail.domain.cluster import Cluster, Partition
from dovetail.domain.estimates import Estimates
from dovetail.domain.jobs import Floats
from dovetail.domain.metrics import bounded_slowdown
from dovetail.domain.policy import Backfill, Ordering, Placement
from dovetail.domain.schedule import Schedule
from dovetail.domain.trace import Trace
from dovetail.policies.ordering import ORDERINGS
from dovetail.policies.placement import PLACEMENTS
from dovetail.prediction import HISTORY
from dovetail.prediction.estimates import make_estimates
from dovetail.simulator import simulate

PARTS = 4
CALM = 60.0
"""Seconds added to waits, so that seconds on an idle cluster do not count."""

TRIES = 20
"""Replays looked at per one wanted, before the workload is held to have no queue."""


class Score(NamedTuple):
    """Logarithms of ratios to SAF: 0 is as good, -0.1 is ten per cent better."""

    wait: float
    bsld: float

    @property
    def loss(self) -> float:
        """The mean and the worse of both: neither is bought with the other."""
        return 0.5 * (0.5 * (self.wait + self.bsld) + max(self.wait, self.bsld))


@dataclass(frozen=True, slots=True)
class Replay:
    """A part of a history, measured from row `first` on, and what SAF makes of it."""

    trace: Trace
    cluster: Cluster
    estimates: Estimates
    first: int
    rival: Floats  # [measures, parts] logarithms

    def score(self, ordering: Ordering, placement: Placement) -> Score:
        """Against SAF; below 0 is better."""
        ours = simulate(
            self.trace, self.cluster, ordering, placement, Backfill.EASY, self.estimates, HISTORY
        )
        parts = self.rival.shape[1]
        wait, bsld = (measure(ours, self.first, parts) - self.rival).mean(axis=1)
        return Score(float(wait), float(bsld))


def make_replay(
    trace: Trace, cluster: Cluster, estimates: Estimates, first: int, parts: int = PARTS
) -> Replay:
    """A replay with SAF's result."""
    order, place = ORDERINGS["saf"], PLACEMENTS["best-fit"]
    theirs = simulate(trace, cluster, order, place, Backfill.EASY, estimates, HISTORY)
    return Replay(trace, cluster, estimates, first, measure(theirs, first, parts))


def make_replays(
    trace: Trace,
    cluster: Cluster,
    count: int,
    length: int,
    seed: int,
    estimates: str = "noisy:1",
    sizes: Sequence[float] = (0.95, 1.0, 1.05),
    least_wait: float = 60.0,
) -> list[Replay]:
    """Parts of a trace on clusters of several sizes; those without a queue are passed over.

    The first tenth of each fills the cluster and is not measured.
    """
    replays: list[Replay] = []
    for part, site, told in _draws(trace, cluster, length, seed, estimates, sizes, TRIES * count):
        found = make_replay(part, site, told, len(part) // 10)
        if np.exp(found.rival[0]).mean() - CALM >= least_wait:
            replays.append(found)
        if len(replays) == count:
            break
    return replays


def _draws(
    trace: Trace,
    cluster: Cluster,
    length: int,
    seed: int,
    estimates: str,
    sizes: Sequence[float],
    tries: int,
) -> Iterator[tuple[Trace, Cluster, Estimates]]:
    random = np.random.default_rng(seed)
    for _ in range(tries):
        begin = int(random.integers(max(1, len(trace) - length + 1)))
        part = trace.slice(begin, min(len(trace), begin + length))
        told = make_estimates(part, estimates, seed=int(random.integers(1 << 31)))
        yield part, resized(cluster, float(random.choice(sizes))), told


def measure(schedule: Schedule, first: int, parts: int) -> Floats:
    """Logarithms of the means of wait and bounded slowdown in each part: [2, parts]."""
    wait, slow = schedule.wait, bounded_slowdown(schedule.wait, schedule.run)
    bounds = np.linspace(first, len(wait), parts + 1).astype(int)
    means = []
    for begin, end in pairwise(bounds):
        rows = begin + np.flatnonzero(schedule.ran[begin:end])
        means.append((wait[rows].mean() + CALM, slow[rows].mean()) if len(rows) else (CALM, 1.0))
    return np.log(np.array(means).T)


def resized(cluster: Cluster, factor: float) -> Cluster:
    """The same cluster with more or fewer nodes of each group, at least one of each."""
    if factor == 1.0:
        return cluster
    groups: dict[tuple[object, ...], list[int]] = {}
    for index, node in enumerate(cluster.nodes):
        key = (node.gpus, node.gpu_type, node.cpus, *cluster.partitions_of(index))
        groups.setdefault(key, []).append(index)
    chosen: list[tuple[int, str]] = []
    for members in groups.values():
        wanted = max(1, round(factor * len(members)))
        for i in range(wanted):
            index = members[i % len(members)]
            copy = i // len(members)
            name = cluster.nodes[index].name
            chosen.append((index, name if copy == 0 else f"{name}+{copy}"))
    nodes = tuple(replace(cluster.nodes[index], name=name) for index, name in chosen)
    partitions = tuple(
        Partition(
            part.name,
            frozenset(i for i, (index, _) in enumerate(chosen) if index in part.nodes),
            part.priority,
        )
        for part in cluster.partitions
    )
    return replace(cluster, nodes=nodes, partitions=partitions, name=f"{cluster.name} x {factor:g}")
