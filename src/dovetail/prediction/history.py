"""Run times predicted from jobs that have ended: the median of the most similar recent ones.

Similar means the same user, partition, GPUs, kind and limit; if too few such jobs have ended, the
group is widened step by step, up to all jobs. Nothing here ever sees a job that still runs.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dovetail.compiled.functions import LazyFunction, kernel
from dovetail.domain.jobs import UNKNOWN, Floats, Ints, Jobs
from dovetail.domain.policy import OBSERVE, PREDICT, History, OnlinePredictor
from dovetail.prediction.selection import sort_few

RECENT = 15
"""Run times kept per group: enough for a steady median, few enough to follow a user's change."""

ENOUGH = 3
"""Ended jobs that a group needs before its median is believed."""

FIRST_GUESS = 3600.0
"""Seconds, while nothing has ended and the job has no limit."""


def fresh(jobs: Jobs) -> History:
    """An empty history with the groups of these jobs, finest first."""
    owner = jobs.user.codes if np.any(jobs.user.codes != UNKNOWN) else jobs.partition.codes
    limit = np.where(np.isnan(jobs.limit), -1.0, jobs.limit)
    columns = [
        [owner, jobs.partition.codes, jobs.gpus, jobs.kind.codes, limit],
        [owner, jobs.gpus, jobs.kind.codes],
        [owner],
        [jobs.gpus, jobs.kind.codes],
        [np.zeros(len(jobs))],
    ]
    groups, count = [], 0
    for level in columns:
        number = _number(level)
        groups.append(number + count)
        count += int(number.max()) + 1
    return History(
        groups=np.ascontiguousarray(np.column_stack(groups)),
        limit=jobs.limit.copy(),
        recent=np.zeros((count, RECENT)),
        total=np.zeros(count, np.int64),
    )


def _number(columns: list[Any]) -> Ints:
    """Equal rows get equal numbers, from 0."""
    number = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        values, codes = np.unique(column, return_inverse=True)
        number = np.unique(number * len(values) + codes, return_inverse=True)[1]
    return number


@kernel
def sorted_recent(history: History, job: int) -> Floats:
    """Recent run times of the finest group that has enough of them, ascending."""
    levels = history.groups.shape[1]
    for level in range(levels):
        group = history.groups[job, level]
        count = min(history.total[group], RECENT)
        if count >= ENOUGH or (level == levels - 1 and count > 0):
            found = history.recent[group, :count].copy()
            sort_few(found)
            return found
    return np.empty(0)


@kernel
def predict_row(history: History, job: int) -> float:
    """The median of similar jobs, but never beyond the job's limit."""
    recent = sorted_recent(history, job)
    limit = history.limit[job]
    if len(recent) == 0:
        return FIRST_GUESS if math.isnan(limit) else min(limit, FIRST_GUESS)
    middle = len(recent) // 2
    guess: float = (
        recent[middle] if len(recent) % 2 else 0.5 * (recent[middle - 1] + recent[middle])
    )
    return guess if math.isnan(limit) else min(limit, guess)


@kernel
def observe_row(history: History, job: int, run: float) -> None:
    """Add a job that has ended to its groups; the oldest entry of a full group goes."""
    for level in range(history.groups.shape[1]):
        group = history.groups[job, level]
        history.recent[group, history.total[group] % RECENT] = run
        history.total[group] += 1


def _predict(history: History, job: int) -> float:
    return predict_row(history, job)


def _observe(history: History, job: int, run: float) -> None:
    observe_row(history, job, run)


HISTORY = OnlinePredictor(
    "history", LazyFunction(PREDICT, _predict), LazyFunction(OBSERVE, _observe), fresh
)
