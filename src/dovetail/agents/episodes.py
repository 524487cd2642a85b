"""Episodes to learn from: warm windows of a history in which the order of jobs matters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dovetail.domain.cluster import Cluster, Partition
from dovetail.domain.metrics import bounded_slowdown
from dovetail.domain.policy import Backfill, Estimates, Ordering
from dovetail.domain.trace import Trace
from dovetail.policies.ordering import ORDERINGS
from dovetail.policies.placement import PLACEMENTS
from dovetail.prediction import HISTORY
from dovetail.simulator import Window, simulate, simulate_window, warm_window
from dovetail.traces.estimates import make_estimates

RIVALS = (("saf", Backfill.EASY), ("saf", Backfill.NONE), ("sjf", Backfill.EASY))
"""The heuristics that are hardest to beat; an episode is scored against the best of them."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Means over the jobs of an episode."""

    wait: float  # seconds
    bsld: float

    def ratio_to(self, other: Outcome) -> float:
        """Mean logarithm of both ratios: 0 is as good, -0.1 is ten per cent better.

        A minute is added to waits, so that seconds on an idle cluster do not count.
        """
        wait = np.log((self.wait + 60.0) / (other.wait + 60.0))
        return float(0.5 * (wait + np.log(self.bsld / other.bsld)))


@dataclass(frozen=True, slots=True)
class Episode:
    """A window, the cluster it runs on, what is told of run times, and the best rival's result."""

    window: Window
    cluster: Cluster
    estimates: Estimates
    rival: Outcome

    def play(self, ordering: Ordering, backfill: Backfill = Backfill.EASY) -> Outcome:
        return play(self.window, self.cluster, self.estimates, ordering, backfill)

    def score(self, ordering: Ordering) -> float:
        """Below 0: better than the best rival."""
        return self.play(ordering).ratio_to(self.rival)


def play(
    window: Window,
    cluster: Cluster,
    estimates: Estimates,
    ordering: Ordering,
    backfill: Backfill,
) -> Outcome:
    """Simulate a window from its warm state; means over its own jobs."""
    schedule = simulate_window(
        window, cluster, ordering, PLACEMENTS["best-fit"], backfill, estimates, HISTORY
    )
    own = window.own & schedule.ran
    wait, run = schedule.wait[own], schedule.run[own]
    return Outcome(float(wait.mean()), float(bounded_slowdown(wait, run).mean()))


def make_episodes(
    trace: Trace,
    cluster: Cluster,
    count: int,
    length: int,
    seed: int,
    estimates: str = "noisy:1",
    sizes: Sequence[float] = (0.85, 1.0, 1.1),
    least_wait: float = 60.0,
) -> list[Episode]:
    """Windows of a trace on clusters of several sizes; those without a queue are passed over.

    The mean of a history is made by a few congested weeks: other sizes and noise show the agent
    more of them than the trace has.
    """
    random = np.random.default_rng(seed)
    worlds = []
    for size in sizes:
        site = resized(cluster, size)
        told = make_estimates(trace, estimates, seed=int(random.integers(1 << 31)))
        base = simulate(
            trace, site, ORDERINGS["saf"], PLACEMENTS["best-fit"], Backfill.EASY, told, HISTORY
        )
        worlds.append((site, told, base))
    episodes: list[Episode] = []
    for _ in range(20 * count):
        if len(episodes) == count:
            break
        site, told, base = worlds[int(random.integers(len(worlds)))]
        first = int(random.integers(max(1, len(trace) - length)))
        window = warm_window(base, first, length)
        seconds = None if told.seconds is None else told.seconds[window.rows]
        own = Estimates(told.name, seconds)
        results = [play(window, site, own, ORDERINGS[name], mode) for name, mode in RIVALS]
        rival = Outcome(min(r.wait for r in results), min(r.bsld for r in results))
        if rival.wait >= least_wait:
            episodes.append(Episode(window, site, own, rival))
    return episodes


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
