"""What an assignment of jobs to GPUs is decided by: waiting jobs against types of GPUs.

Idle GPUs of one type are alike, so that a decision is about a job and a type: 256 GPUs of three
types are three columns. Nothing here names a kind of job or a type; what a kind is shows in its
speeds. So the same weights serve any cluster.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Singles = NDArray[np.float32]
Flags = NDArray[np.bool_]

PAIR_FEATURES = 15
WAIT_FEATURES = 6

RUN, LATER, SHARE = 0, 1, 3
"""Which features of a pair are its run time, by how much later it would end than elsewhere, and its
speed as a share of the best."""

OF_OTHERS = (LATER, 4, 13)
"""Those that an agent of one type cannot know: they look at GPUs of other types."""

SUITS = 0.99
"""Of the best speed: what counts as the best."""

NOTHING = 5.0
"""Stands for the least loss where no job could start at all."""


class AssignmentFacts(NamedTuple):
    """One decision, or many at once behind further leading axes; times in mean run times."""

    estimate: Singles  # [..., jobs] at speed 1
    waited: Singles  # [..., jobs]
    priority: Singles  # [..., jobs] 0 to 1
    shown: Flags  # [..., jobs] whether there is such a job
    speed: Singles  # [..., jobs, types] of the best free GPU of the type, or of any; 0: never
    free: Singles  # [..., types] GPUs
    total: Singles  # [..., types] GPUs
    ready: Singles  # [..., types] until one of them is free
    left: Singles  # [..., types] until one is free, mean over all
    waiting: Singles  # [...] jobs in all


class AssignmentFeatures(NamedTuple):
    """What a network gets."""

    pairs: Singles  # [..., jobs, types, PAIR_FEATURES]
    wait: Singles  # [..., WAIT_FEATURES]
    valid: Flags  # [..., jobs, types]

    def may_wait(self) -> Flags:
        """[...]: nobody waits while a job could start on the type that suits it best.

        Waiting for the next event is worth so little more or less that a network's errors, of which
        a maximum takes the largest, made it wait for ever.
        """
        suits = self.valid & (self.pairs[..., SHARE] > SUITS)
        return np.asarray(~suits.any(axis=(-1, -2)))


def describe_assignment(facts: AssignmentFacts) -> AssignmentFeatures:
    """Features of every pair of job and type, and of waiting."""
    speed = np.maximum(facts.speed, 1e-3)
    run = facts.estimate[..., None] / speed
    possible = facts.shown[..., None] & (facts.speed > 0)
    ends = np.where(possible, facts.ready[..., None, :] + run, np.inf)
    soonest = ends.min(axis=-1, keepdims=True)
    soonest = np.where(np.isfinite(soonest), soonest, 0.0)
    log_run = np.log1p(run)
    later = np.where(possible, log_run - np.log1p(soonest), NOTHING)
    share = facts.speed / np.maximum(facts.speed.max(axis=-1, keepdims=True), 1e-3)
    valid = possible & (facts.free > 0)[..., None, :]
    jobs = np.maximum(facts.shown.sum(axis=-1), 1)[..., None]
    popular = (share * facts.shown[..., None]).sum(axis=-2) / jobs
    crowd = _of_all(facts)
    by_type = (popular, facts.free / facts.total, np.log1p(facts.left))
    by_job = (np.log1p(facts.estimate), np.log1p(facts.waited), facts.priority, _rank(facts))
    pairs = _stacked(
        log_run.shape,
        log_run, later, facts.speed, share, later - later.min(axis=-2, keepdims=True),
        *(part[..., None, :] for part in by_type),
        *(part[..., None] for part in by_job),
        *(part[..., None, None] for part in crowd),
    )  # fmt: skip
    least = np.where(valid, later, NOTHING).min(axis=(-1, -2))
    busy = np.where(facts.free > 0, np.inf, facts.ready).min(axis=-1)
    next_free = np.where(np.isfinite(busy), np.log1p(np.minimum(busy, 1e6)), 0.0)
    best = np.where(valid, log_run, NOTHING).min(axis=(-1, -2))
    wait = _stacked(least.shape, least, next_free, best, *crowd)
    return AssignmentFeatures(pairs, wait, valid)


def _of_all(facts: AssignmentFacts) -> list[NDArray[Any]]:
    """Of all jobs and GPUs together: how many wait, how many are free, how much work waits."""
    total = facts.total.sum(axis=-1)
    work = (facts.estimate * facts.shown).sum(axis=-1) / total
    return [np.log1p(facts.waiting) / 4.0, facts.free.sum(axis=-1) / total, np.log1p(work)]


def _rank(facts: AssignmentFacts) -> NDArray[Any]:
    """[..., jobs]: the share of waiting jobs that are shorter."""
    length = np.where(facts.shown, facts.estimate, np.inf)
    place = np.argsort(np.argsort(length, axis=-1, kind="stable"), axis=-1, kind="stable")
    return place / np.maximum(facts.shown.sum(axis=-1), 1)[..., None]


def _stacked(shape: tuple[int, ...], *parts: NDArray[Any]) -> Singles:
    """Beside each other along a new last axis, each as wide as the shape."""
    found = np.empty((*shape, len(parts)), np.float32)
    for number, part in enumerate(parts):
        found[..., number] = part
    return found
