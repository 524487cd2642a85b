"""ADLRO's network as a placement: jobs of one GPU start where it says, or wait.

Kinds of nodes are its types of GPUs. Larger jobs are not its business: they go in order, on nodes by
best-fit.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dovetail.domain.errors import ConfigError
from dovetail.domain.jobs import Floats, Ints
from dovetail.domain.plan import JobPlan, Plan
from dovetail.domain.problem import Problem
from dovetail.policies.learned.assignment_facts import AssignmentFacts
from dovetail.policies.learned.assignment_network import WAIT, AssignmentNetwork


class Ways(NamedTuple):
    """How each job could run on each kind of node."""

    speed: Floats  # [jobs, kinds] 0: not at all
    shape: Ints  # [jobs, kinds]
    chunk: Ints  # [jobs, kinds, 3] GPUs, milli-CPUs, MB


class TypeAssigner:
    """Asks the network again after every start, until it would rather wait."""

    def __init__(self, network: AssignmentNetwork, scale: float) -> None:
        self.network, self.scale = network, scale

    def __call__(self, problem: Problem) -> Plan:
        began = time.perf_counter()
        kinds, column = np.unique(problem.nodes.kind, return_inverse=True)
        ways = _ways(problem, kinds)
        free = problem.nodes.free.copy()
        starts: dict[int, JobPlan] = {}
        may_wait = len(problem.nodes.releases.end) > 0
        while len(starts) < len(problem.jobs):
            facts = self._facts(problem, ways, free, column, starts)
            room = _room(ways, free, column, facts.shown)
            job, kind = self.network.choose(facts, may_wait or bool(starts), room)
            if (job, kind) == WAIT:
                break
            node = _tightest(free, column == kind, ways.chunk[job, kind])
            free[node] -= ways.chunk[job, kind]
            starts[job] = JobPlan(job, 0, int(ways.shape[job, kind]), (node,))
        jobs = tuple(starts.get(job, JobPlan(job)) for job in range(len(problem.jobs)))
        reason = f"{len(starts)} of {len(jobs)} jobs start now, the others do better to wait"
        return Plan(jobs, len(starts), "adlro", None, time.perf_counter() - began, reason)

    def _facts(
        self, problem: Problem, ways: Ways, free: Ints, column: Ints, starts: Mapping[int, JobPlan]
    ) -> AssignmentFacts:
        count, jobs, releases = ways.speed.shape[1], problem.jobs, problem.nodes.releases
        shown = np.array([job not in starts for job in range(len(jobs))])
        ends = list(np.maximum(releases.end - problem.now, 0.0))
        where = [*column[releases.node]]
        held = [*releases.amount[:, 0]]
        for job, part in starts.items():  # they run now, as far as the next choice goes
            kind = int(column[part.nodes[0]])
            ends.append(jobs[job].estimate / ways.speed[job, kind])
            where.append(kind)
            held.append(1)
        left, at, gpus = np.array(ends, float), np.array(where, int), np.array(held, float)
        idle = np.bincount(column, free[:, 0], count)
        total = np.maximum(idle + np.bincount(at, gpus, count), 1.0)
        ready = np.full(count, np.inf)
        np.minimum.at(ready, at, left)
        ready = np.where(idle > 0, 0.0, np.where(np.isfinite(ready), ready, 0.0))
        return AssignmentFacts(
            *(_single(np.array(part)) for part in (
                [job.estimate / self.scale for job in jobs],
                [job.waited / self.scale for job in jobs],
                [min(max(job.priority, 0.0), 1.0) for job in jobs])),
            shown, _single(ways.speed), _single(idle), _single(total),
            _single(ready / self.scale),
            _single(np.bincount(at, gpus * left, count) / total / self.scale),
            np.float32(shown.sum()),
        )  # fmt: skip


def _ways(problem: Problem, kinds: Ints) -> Ways:
    jobs = len(problem.jobs)
    speed, shape = np.zeros((jobs, len(kinds))), np.zeros((jobs, len(kinds)), np.int64)
    chunk = np.zeros((jobs, len(kinds), 3), np.int64)
    for row, ask in enumerate(problem.jobs):
        for number, way in enumerate(ask.shapes):
            able = np.array([way.kinds >> int(kind) & 1 for kind in kinds], np.bool_)
            able &= way.speed > speed[row]
            speed[row, able], shape[row, able], chunk[row, able] = way.speed, number, way.large
    return Ways(speed, shape, chunk)


def _room(ways: Ways, free: Ints, column: Ints, shown: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """[jobs, kinds]: whether some node of the kind has all that the job needs."""
    found = np.zeros(ways.speed.shape, np.bool_)
    for kind in range(ways.speed.shape[1]):
        here = free[column == kind]
        fits = np.all(ways.chunk[:, None, kind] <= here[None], axis=-1).any(axis=1)
        found[:, kind] = fits & (ways.speed[:, kind] > 0) & shown
    return found


def _tightest(free: Ints, of_kind: NDArray[np.bool_], chunk: Ints) -> int:
    """The node with the fewest free GPUs that has room, the first of equals."""
    fits = of_kind & np.all(free >= chunk, axis=1)
    return int(np.where(fits, free[:, 0], np.iinfo(np.int64).max).argmin())


def _single(values: NDArray[Any]) -> NDArray[np.float32]:
    return values.astype(np.float32)


def assigner_from(arrays: Mapping[str, NDArray[Any]], name: str) -> TypeAssigner:
    """From the arrays of a checkpoint: the network's, and `scale`, the seconds that count as 1."""
    scale = arrays.get("scale", np.empty(0))
    if scale.shape != () or scale.dtype.kind != "f" or not 0 < float(scale) < np.inf:
        raise ConfigError(f"{name}: 'scale' is not a number of seconds; train it again")
    return TypeAssigner(AssignmentNetwork(arrays, name), float(scale))
