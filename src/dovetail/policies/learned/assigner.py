"""ADLRO's network as a placement: jobs of one GPU start where it says, or wait.

Kinds of nodes are its types of GPUs. Larger jobs are not its business: they go in order, on nodes
by best-fit.
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
from dovetail.domain.problem import JobAsk, Problem
from dovetail.policies.learned.assignment_facts import AssignmentFacts, Flags
from dovetail.policies.learned.assignment_network import WAIT, AssignmentNetwork


class Ways(NamedTuple):
    """How each job could run on each kind of node."""

    speed: Floats  # [jobs, kinds] 0: not at all
    shape: Ints  # [jobs, kinds]
    chunk: Ints  # [jobs, kinds, 3] GPUs, milli-CPUs, MB


class AssignmentBoard:
    """The nodes and jobs of one problem while starts are chosen, one after the other."""

    def __init__(self, problem: Problem, scale: float) -> None:
        self.problem, self.scale, nodes = problem, scale, problem.nodes
        kinds, self.column = np.unique(nodes.kind, return_inverse=True)
        self.kinds, self.free = len(kinds), nodes.free.copy()
        self.ways = _ways(problem, kinds)
        self.shown = np.ones(len(problem.jobs), np.bool_)
        self.starts: dict[int, JobPlan] = {}
        ends, jobs = nodes.releases, problem.jobs
        left, where = np.maximum(ends.end - problem.now, 0.0), self.column[ends.node]
        held = ends.amount[:, 0]
        idle = np.bincount(self.column, self.free[:, 0], self.kinds)
        self.total = np.maximum(idle + np.bincount(where, held, self.kinds), 1.0)
        self.work = np.bincount(where, held * left, self.kinds)  # GPU seconds still to run
        self.ready = np.full(self.kinds, np.inf)
        np.minimum.at(self.ready, where, left)
        self.estimate = np.array([job.estimate for job in jobs])
        self.waited = np.array([job.waited for job in jobs])
        priority = np.array([job.priority for job in jobs])
        self.priority = np.minimum(np.maximum(priority, 0.0), 1.0)

    def start(self, job: int, kind: int) -> None:
        """On the node of the kind with the fewest free GPUs that has room, the first of equals."""
        chunk = self.ways.chunk[job, kind]
        fits = (self.column == kind) & np.all(self.free >= chunk, axis=1)
        node = int(np.where(fits, self.free[:, 0], np.iinfo(np.int64).max).argmin())
        self.free[node] -= chunk
        self.shown[job] = False
        self.starts[job] = JobPlan(job, 0, int(self.ways.shape[job, kind]), (node,))
        takes = self.estimate[job] / self.ways.speed[job, kind]
        self.work[kind] += takes
        self.ready[kind] = min(self.ready[kind], takes)

    def room(self) -> Flags:
        """[jobs, kinds]: whether some node of the kind has all that the job needs."""
        has_gpu = self.free[:, 0] > 0
        here, column = self.free[has_gpu], self.column[has_gpu]
        found = np.zeros((len(self.shown), self.kinds), np.bool_)
        for kind in range(self.kinds):
            own = here[column == kind]
            if len(own):
                most = own.max(axis=0)
                chunk = self.ways.chunk[:, kind]
                found[:, kind] = (chunk <= most).all(axis=1)
                if not (own == most).all(axis=1).any():  # no node has the most of everything
                    found[:, kind] = (chunk[:, None] <= own).all(axis=-1).any(axis=1)
        return found

    def facts(self) -> AssignmentFacts:
        scale, idle = self.scale, np.bincount(self.column, self.free[:, 0], self.kinds)
        ready = np.where((idle > 0) | ~np.isfinite(self.ready), 0.0, self.ready)
        return AssignmentFacts(
            _single(self.estimate / scale), _single(self.waited / scale), _single(self.priority),
            self.shown, _single(self.ways.speed), _single(idle), _single(self.total),
            _single(ready / scale), _single(self.work / self.total / scale),
            np.array(self.shown.sum(), np.float32),
        )  # fmt: skip


class TypeAssigner:
    """Asks the network again after every start, until it would rather wait."""

    def __init__(self, network: AssignmentNetwork, scale: float) -> None:
        self.network, self.scale = network, scale

    def __call__(self, problem: Problem) -> Plan:
        began = time.perf_counter()
        board = AssignmentBoard(problem, self.scale)
        something_runs = len(problem.nodes.releases.end) > 0
        while board.shown.any() and np.any(board.free[:, 0] > 0):
            may_wait = something_runs or bool(board.starts)
            job, kind = self.network.choose(board.facts(), may_wait, board.room())
            if (job, kind) == WAIT:
                break
            board.start(job, kind)
        starts = tuple(board.starts[job] for job in sorted(board.starts))
        reason = f"{len(starts)} of {len(problem.jobs)} jobs start now, the others wait"
        return Plan(starts, len(starts), "adlro", None, time.perf_counter() - began, reason)


def _ways(problem: Problem, kinds: Ints) -> Ways:
    """Jobs of one demand share their shapes, which are looked at once."""
    known: dict[int, tuple[Floats, Ints, Ints]] = {}
    for ask in problem.jobs:
        if id(ask.shapes) not in known:
            known[id(ask.shapes)] = _ways_of(ask, kinds)
    found = [known[id(ask.shapes)] for ask in problem.jobs]
    return Ways(*(np.array(part) for part in zip(*found, strict=True)))


def _ways_of(ask: JobAsk, kinds: Ints) -> tuple[Floats, Ints, Ints]:
    speed, shape = np.zeros(len(kinds)), np.zeros(len(kinds), np.int64)
    chunk = np.zeros((len(kinds), 3), np.int64)
    for number, way in enumerate(ask.shapes):
        for column, kind in enumerate(kinds.tolist()):
            if way.kinds >> kind & 1 and way.speed > speed[column]:
                speed[column], shape[column], chunk[column] = way.speed, number, way.large
    return speed, shape, chunk


def _single(values: NDArray[Any]) -> NDArray[np.float32]:
    return values.astype(np.float32)


def assigner_from(arrays: Mapping[str, NDArray[Any]], name: str) -> TypeAssigner:
    """From the arrays of a checkpoint: the network's, and `scale`, the seconds that count as 1."""
    scale = arrays.get("scale", np.empty(0))
    if scale.shape != () or scale.dtype.kind != "f" or not 0 < float(scale) < np.inf:
        raise ConfigError(f"{name}: 'scale' is not a number of seconds; train it again")
    return TypeAssigner(AssignmentNetwork(arrays, name), float(scale))
