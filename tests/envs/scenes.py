"""Small pools of windows, and generators that yield what a test wrote down."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from dovetail.domain.cluster import Cluster
from dovetail.domain.estimates import Estimates
from dovetail.domain.jobs import Ints
from dovetail.domain.policy import Ordering
from dovetail.envs import Pool, QueuePriorityConfig, SyntheticWindows
from dovetail.envs.windows import Episode
from dovetail.simulator import Window
from tests.builders import JobRow, cluster_of, estimates_of, trace_of


@cache
def small_pool(order: str = "fcfs", metric: str = "bsld") -> Pool:
    """Four windows of 64 jobs on a congested cluster of 64 GPUs."""
    source = SyntheticWindows(cluster="8x8", jobs=1500, load=1.1, length=64)
    return Pool(QueuePriorityConfig(source, order=order, metric=metric, pool=4))


@dataclass(frozen=True)
class Written:
    """One window, from an idle cluster, again and again."""

    cluster: Cluster
    rows: tuple[JobRow, ...]

    def episodes(self, base: Ordering, random: np.random.Generator) -> Iterator[Episode]:
        trace, estimates = trace_of(*self.rows), estimates_of(*self.rows)
        window = Window(
            trace=trace,
            rows=np.arange(len(trace)),
            now=float(trace.jobs.submit[0]),
            carried=0,
            start=np.empty(0),
            chunk_offset=np.zeros(1, np.int64),
            chunk_node=np.empty(0, np.int64),
            chunk_gpus=np.empty(0, np.uint64),
        )
        while True:
            told = Estimates(estimates.name, estimates.seconds)
            yield Episode(window, self.cluster, told, predicted=np.ones(len(trace)))


def pool_of(
    cluster: str | Cluster, *rows: JobRow, metric: str = "wait", order: str = "fcfs"
) -> Pool:
    site = cluster_of(cluster) if isinstance(cluster, str) else cluster
    return Pool(QueuePriorityConfig(Written(site, rows), order=order, metric=metric, pool=1))


def random_valid(mask: np.ndarray[tuple[int, int], np.dtype[np.int8]], seed: int) -> Ints:
    """One valid action per row of the mask."""
    chance = np.random.default_rng(seed).random(mask.shape)
    actions: Ints = np.argmax(chance * mask, axis=1)
    return actions
