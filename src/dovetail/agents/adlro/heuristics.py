"""Rules that assign jobs to GPUs by what an environment shows: the seed's two, and stronger ones.

>>> sorted(HEURISTICS)
['earliest-finish', 'fcfs', 'index', 'max-min', 'sjf-best-fit', 'static-affinity']
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from dovetail.domain.jobs import Floats, Ints
from dovetail.domain.registry import Registry
from dovetail.envs.batch import Seen
from dovetail.envs.gpu_assignment.by_type import choice_mask, facts_of, gpu_actions
from dovetail.envs.gpu_assignment.config import GpuAssignmentConfig
from dovetail.envs.gpu_assignment.kernel import GPU_FEATURES, JOB_FEATURES
from dovetail.policies.learned.assignment_facts import describe_assignment
from dovetail.policies.learned.assignment_network import PRIOR_WAIT, prior_of_pairs

Assigner = Callable[[Seen], Ints]
"""From what all environments show to an action for each."""


class AssignmentView:
    """What one environment shows, in units that rules think in."""

    def __init__(self, seen: Seen, e: int) -> None:
        jobs, gpus = seen["jobs"][e], seen["gpus"][e]
        self.count = int((jobs[:, JOB_FEATURES:].sum(axis=1) > 0).sum())
        self.gpus = len(gpus)
        self.wait = seen["mask"].shape[1] - 1
        self.may_wait = bool(seen["mask"][e, -1])
        self.estimate: Floats = np.expm1(jobs[: self.count, 0].astype(float))
        self.kind: Ints = jobs[: self.count, JOB_FEATURES:].argmax(axis=1)
        self.speed: Floats = seen["speeds"][e, : self.count].astype(float)  # [jobs, GPUs]
        self.free = gpus[:, 0] < 0.5
        self.left: Floats = np.expm1(gpus[:, 1].astype(float))
        self.type: Ints = gpus[:, GPU_FEATURES:].argmax(axis=1)

    def action(self, job: int, gpu: int) -> int:
        return job * self.gpus + gpu

    def fastest_free(self, job: int) -> int:
        return int(np.where(self.free, self.speed[job], -1.0).argmax())


def each(rule: Callable[[AssignmentView], int]) -> Assigner:
    """A rule for one environment as one for many."""

    def assign(seen: Seen) -> Ints:
        return np.array([rule(AssignmentView(seen, e)) for e in range(len(seen["mask"]))])

    return assign


def fcfs(config: GpuAssignmentConfig) -> Assigner:
    """The oldest job on the first free GPU, whatever it is."""
    return each(lambda s: s.action(0, int(s.free.argmax())))


def static_affinity(config: GpuAssignmentConfig) -> Assigner:
    """Each kind has its GPU type, set beforehand; a job waits for one of these."""
    home = affinity(config)

    def rule(s: AssignmentView) -> int:
        for job in range(s.count):
            own = s.free & (s.type == home[int(s.kind[job])])
            if own.any():
                return s.action(job, int(own.argmax()))
        return s.wait if s.may_wait else s.action(0, int(s.free.argmax()))

    return each(rule)


def affinity(config: GpuAssignmentConfig) -> Mapping[int, int]:
    """The one-to-one map of kinds to types that an operator would write: highest total speed."""
    from itertools import permutations

    types = list(config.gpus)
    speed = np.array([[config.speeds[kind][name] for name in types] for kind in config.kinds])
    count = len(config.kinds)
    if count > len(types):
        return {kind: int(speed[kind].argmax()) for kind in range(count)}
    best = max(
        permutations(range(len(types)), count),
        key=lambda order: sum(speed[kind, name] for kind, name in enumerate(order)),
    )
    return dict(enumerate(best))


def sjf_best_fit(config: GpuAssignmentConfig) -> Assigner:
    """The job that would end soonest, by estimate, on the free GPU that suits it best."""

    def rule(s: AssignmentView) -> int:
        length = np.where(s.free, s.estimate[:, None] / s.speed, np.inf)
        job = int(length.min(axis=1).argmin())
        return s.action(job, s.fastest_free(job))

    return each(rule)


def earliest_finish(config: GpuAssignmentConfig) -> Assigner:
    """Shortest first, each where it would end first, busy GPUs included: it may wait for those."""

    def rule(s: AssignmentView) -> int:
        ready = np.where(s.free, 0.0, s.left)
        for job in np.argsort(s.estimate, kind="stable").tolist():
            end = ready + s.estimate[job] / s.speed[job]
            gpu = int(end.argmin())
            if s.free[gpu] and ready[gpu] == 0.0:
                return s.action(job, gpu)
            ready[gpu] = end[gpu]
        if s.may_wait:
            return s.wait
        shortest = int(s.estimate.argmin())
        return s.action(shortest, s.fastest_free(shortest))

    return each(rule)


def max_min(config: GpuAssignmentConfig) -> Assigner:
    """As Gavel: shares of GPU types per kind that lift the worst-off kind most, then followed."""
    share = fair_shares(config)

    def rule(s: AssignmentView) -> int:
        weight = np.where(s.free, share[s.kind][:, s.type] * s.speed, -1.0)
        # Ties, and kinds that are due nowhere now, go to the older job on the faster GPU.
        weight = weight + 1e-3 * s.speed * s.free
        job, gpu = divmod(int(weight.argmax()), s.gpus)
        return s.action(job, gpu)

    return each(rule)


def fair_shares(config: GpuAssignmentConfig) -> Floats:
    """[kinds, types]: which part of a type's time each kind should get, by fictitious play.

    One player weighs kinds by how badly off they are, the other gives each type to the kind that
    gains most; the mean of what is given converges to the max-min allocation.
    """
    types, kinds = list(config.gpus), config.kinds
    count = np.array([config.gpus[name] for name in types], float)
    speed = np.array([[config.speeds[kind][name] for name in types] for kind in kinds])
    speed = speed / (speed @ count)[:, None]  # of what the kind would have with all to itself
    given, got = np.zeros(speed.shape), np.zeros(len(kinds))
    for turn in range(1, 4001):
        weight = np.exp(-8.0 * np.sqrt(turn) * (got / turn - (got / turn).min()))
        best = (weight[:, None] * speed).argmax(axis=0)
        given[best, np.arange(len(types))] += 1.0
        got += np.bincount(best, speed[best, np.arange(len(types))] * count, len(kinds))
    return given / given.sum(axis=0)


def index(config: GpuAssignmentConfig) -> Assigner:
    """The pair that loses least against where the job would end first: the network's prior."""

    def assign(seen: Seen) -> Ints:
        features = describe_assignment(facts_of(seen))
        scores = prior_of_pairs(features)
        wait = np.full((len(scores), 1), -PRIOR_WAIT)
        values = np.concatenate([scores.reshape(len(scores), -1), wait], axis=1)
        best = np.where(choice_mask(features, seen), values, -np.inf).argmax(axis=1)
        return gpu_actions(seen, best)

    return assign


HEURISTICS: Registry[Callable[[GpuAssignmentConfig], Assigner]] = Registry(
    "heuristic",
    {
        "fcfs": fcfs,
        "static-affinity": static_affinity,
        "sjf-best-fit": sjf_best_fit,
        "earliest-finish": earliest_finish,
        "max-min": max_min,
        "index": index,
    },
)
