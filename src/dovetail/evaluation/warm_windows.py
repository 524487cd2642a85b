"""The second protocol: windows of the unseen part, from the cluster as the trace had it then.

Published windows start on an idle cluster, where jobs hardly wait. Here a replay of the trace under
SAF with EASY backfilling gives the state in which each window begins, the same for all
policies, so that their results are pairs. Only a window's own jobs are measured. What a prediction
from history would say is taken from that replay; the prediction that qssf makes for itself learns
within the window only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from dovetail.domain.cluster import Cluster
from dovetail.domain.errors import ConfigError
from dovetail.domain.estimates import Estimates
from dovetail.domain.jobs import Floats
from dovetail.domain.schedule import Schedule
from dovetail.domain.trace import Trace
from dovetail.evaluation.bounds.bound import lower_bounds, mean_bounds
from dovetail.evaluation.run import Run
from dovetail.evaluation.standing import Unseen, measure, standings
from dovetail.evaluation.unseen import Draws
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
) -> Unseen:
    """Measure policies on windows of the jobs from row `first` on, the first against the others."""
    starts, size = window_starts(first, len(trace), count, length)
    found = []
    for draw in range(len(draws)):
        told = [draws.of(policy)[draw] for policy in policies]
        base = Run(trace, cluster, BASE, draws.of(BASE)[draw]).replay()
        found.append(_play(base, policies, told, starts, size))
        progress((draw + 1) / len(draws))
    able = found[0][1] > 0
    if not able.any():
        raise ConfigError(f"{trace.name} on {cluster.name}: none of the unseen jobs can run there")
    means = np.mean([values for values, _ in found], axis=0)[:, :, able]
    parts = [trace.slice(start, start + size) for start in starts]
    bound = mean_bounds([lower_bounds(part, cluster) for part in parts])
    labels = [policy.label(placement="best-fit") for policy in policies]
    return Unseen(
        jobs=int(found[0][1].sum()),
        groups=int(able.sum()),
        draws=len(draws),
        bound=bound,
        rows=standings(labels, list(means.mean(axis=2)), list(means), bound),
    )


def _play(
    base: Schedule,
    policies: Sequence[Policy],
    told: Sequence[Estimates],
    starts: Sequence[int],
    size: int,
) -> tuple[Floats, Floats]:
    """Means [policies, metrics, windows] over own jobs, and how many of these ran [windows]."""
    parts = [policy.parts() for policy in policies]
    means, counts = np.full((len(policies), 3, len(starts)), np.nan), np.zeros(len(starts))
    for at, start in enumerate(starts):
        window = warm_window(base, start, size)
        for number, (order, place, fill) in enumerate(parts):
            known = told[number].take(window.rows)
            schedule = simulate_window(window, base.cluster, order, place, fill, known, HISTORY)
            rows = np.flatnonzero(window.own & schedule.ran)
            counts[at] = len(rows)
            if len(rows):
                means[number, :, at] = measure(schedule, rows).mean(axis=1)
    return means, counts
