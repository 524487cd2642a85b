"""The second protocol: windows of the unseen part, from the cluster as the trace had it then.

Published windows start on an idle cluster, where jobs hardly wait. Here a replay of the trace under
SAF with EASY backfilling gives the state in which each window begins, the same for all
policies, so that their results are pairs. Only a window's own jobs are measured. What a prediction
from history would say is taken from that replay; the prediction that qssf makes for itself learns
within the window only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dovetail.agents.engines import Engine
from dovetail.agents.players import LocalPlayers
from dovetail.domain.cluster import Cluster
from dovetail.domain.errors import ConfigError
from dovetail.domain.estimates import Estimates
from dovetail.domain.jobs import Floats
from dovetail.domain.schedule import Schedule
from dovetail.domain.trace import Trace
from dovetail.evaluation.bounds.bound import lower_bounds, mean_bounds
from dovetail.evaluation.run import Run
from dovetail.evaluation.standing import Unseen, measure, standings
from dovetail.evaluation.unseen import Draws, play_all
from dovetail.policies.policy import Policy
from dovetail.prediction import HISTORY
from dovetail.simulator import simulate_window, warm_window

BASE = Policy("saf")
"""Whose replay gives the states; training takes the same."""

SHORTEST = 256
"""Jobs of a window below which fewer windows are taken rather than shorter ones."""


def window_starts(first: int, stop: int, count: int, length: int) -> tuple[list[int], int]:
    """First rows and length of up to `count` windows of up to `length` jobs that do not overlap.

    >>> window_starts(0, 1000, 10, 1024)
    ([0, 372, 744], 256)
    """
    if count < 1 or length < 1:
        raise ConfigError(f"{count} windows of {length} jobs: expected 1 or more of each")
    jobs = stop - first
    size = min(length, jobs, max(SHORTEST, jobs // count))
    places = min(count, jobs // size)
    return np.linspace(first, stop - size, places).astype(np.int64).tolist(), size


def evaluate_windows(
    trace: Trace,
    cluster: Cluster,
    policies: Sequence[Policy],
    draws: Draws,
    first: int,
    count: int = 10,
    length: int = 1024,
    progress: Callable[[float], None] = lambda fraction: None,
    workers: int = 1,
    engine: Engine = LocalPlayers,
) -> Unseen:
    """Measure policies on windows of the jobs from row `first` on, the first against the others."""
    starts, size = window_starts(first, len(trace), count, length)
    bases = [Run(trace, cluster, BASE, told).replay() for told in draws.of(BASE)]
    windows = [
        WarmWindows(base, draws.of(policy)[draw], tuple(starts), size)
        for policy in policies
        for draw, base in enumerate(bases)
    ]
    tasks = [(at, policies[at // len(bases)].carried()) for at in range(len(windows))]
    found = play_all(windows, tasks, workers, engine, progress)
    ran = found[0][1]
    able = ran > 0
    if not able.any():
        raise ConfigError(f"{trace.name} on {cluster.name}: none of the unseen jobs can run there")
    drawn = np.array([values for values, _ in found]).reshape(len(policies), len(bases), 3, -1)
    means = drawn.mean(axis=1)[:, :, able]
    parts = [trace.slice(start, start + size) for start in starts]
    bound = mean_bounds([lower_bounds(part, cluster) for part in parts])
    labels = [policy.label(placement="best-fit") for policy in policies]
    return Unseen(
        jobs=int(ran.sum()),
        groups=int(able.sum()),
        draws=len(draws),
        bound=bound,
        rows=standings(labels, list(means.mean(axis=2)), list(means), bound),
    )


@dataclass(frozen=True, slots=True)
class WarmWindows:
    """Windows that begin as a replay left the cluster, and what is told of their jobs."""

    base: Schedule
    estimates: Estimates
    starts: tuple[int, ...]
    size: int

    def play(self, policy: Policy) -> tuple[Floats, Floats]:
        """Means [metrics, windows] over own jobs, and how many of these ran [windows]."""
        order, place, fill = policy.parts()
        means, counts = np.full((3, len(self.starts)), np.nan), np.zeros(len(self.starts))
        for at, start in enumerate(self.starts):
            window = warm_window(self.base, start, self.size)
            known = self.estimates.take(window.rows)
            cluster = self.base.cluster
            schedule = simulate_window(window, cluster, order, place, fill, known, HISTORY)
            rows = np.flatnonzero(window.own & schedule.ran)
            counts[at] = len(rows)
            if len(rows):
                means[:, at] = measure(schedule, rows).mean(axis=1)
        return means, counts
