"""The predictor `boosted`: trees fitted on jobs that have ended, and again as time goes on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from dovetail.domain.jobs import Floats, Ints, Jobs
from dovetail.prediction.calibration import calibrate
from dovetail.prediction.distribution import LEVELS, Distribution
from dovetail.prediction.features import Features, Table, features_of
from dovetail.prediction.observed import enforced_limits, log_runs, logs_of
from dovetail.prediction.recent import predict_by_history
from dovetail.prediction.timeline import Timeline
from dovetail.prediction.trees import Bins, Forest, Growth, grow

SHOWN = (1, 3, 5, 7, 9)
"""Levels of the history's quantiles that trees see: 10, 30, 50, 70 and 90 %."""


@dataclass(frozen=True, slots=True)
class Refits:
    """When trees are fitted again, and on what."""

    first: int = 300  # ended jobs before the first fit
    factor: float = 1.25  # and again when so many times as many have ended,
    every: int = 2000  # but at the latest after so many more
    recent: int = 6000  # latest ended jobs that a fit looks at,
    older: int = 3000  # and so many of before, evenly
    growth: Growth = field(default_factory=lambda: Growth(rounds=60, depth=5, rate=0.12))


def predict_boosted(jobs: Jobs, timeline: Timeline) -> Distribution:
    """Every job at its submission, by the trees of that time."""
    raw, logs, most = boosted_logs(jobs, timeline), log_runs(jobs), enforced_limits(jobs, timeline)
    return Distribution.of_logs(calibrate(raw[:, : len(LEVELS)], logs, most, timeline), raw, most)


def boosted_logs(jobs: Jobs, timeline: Timeline, refits: Refits | None = None) -> Floats:
    """What trees say, not yet calibrated: [jobs, outputs]; history before the first fit."""
    plan = refits or Refits()
    raw = logs_of(predict_by_history(jobs, timeline))
    table = seen_by_trees(jobs, timeline, raw).table
    logs = log_runs(jobs)
    for first, stop, known in _parts(timeline, plan):
        forest = fit(table, logs, timeline.by_end[:known], plan)
        raw[first:stop] = forest.predict(table[first:stop])
    return raw


def seen_by_trees(jobs: Jobs, timeline: Timeline, history: Floats) -> Features:
    """The features, and what history says."""
    facts = features_of(jobs, timeline)
    told = tuple(f"history's {LEVELS[k]:.0%}" for k in SHOWN)
    table = np.column_stack([facts.table, history[:, SHOWN].astype(np.float32)])
    return Features(table, (*facts.names, *told))


def fit(table: Table, logs: Floats, ended: Ints, refits: Refits) -> Forest:
    """Trees for jobs that have ended, given in the order in which they did."""
    older, recent = ended[: -refits.recent], ended[-refits.recent :]
    if len(older) > refits.older:
        older = older[np.linspace(0, len(older) - 1, refits.older).astype(np.int64)]
    rows = np.concatenate((older, recent))
    part = table[rows]
    return grow(Bins.of(part), part, logs[rows], refits.growth)


def _parts(timeline: Timeline, refits: Refits) -> Iterator[tuple[int, int, int]]:
    """First and last row predicted by one fit, and how many jobs had ended at its time."""
    ended = np.searchsorted(timeline.end[timeline.by_end], timeline.submit, side="right")
    due, first, known = refits.first, -1, 0
    for row in range(len(ended)):
        if ended[row] >= due:
            if first >= 0:
                yield first, row, known
            first, known = row, int(ended[row])
            due = min(int(known * refits.factor) + 1, known + refits.every)
    if first >= 0:
        yield first, len(ended), known
