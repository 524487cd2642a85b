"""The two solvers behind one interface, and when neither is worth asking."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from dovetail.domain.errors import ConfigError
from dovetail.domain.jobs import Ints
from dovetail.domain.plan import Plan
from dovetail.domain.problem import ChunkDemand, JobAsk, JobShape, NodeState, Problem
from dovetail.policies.optimiser.candidates import candidates_of
from dovetail.policies.optimiser.choice import choice_in
from dovetail.policies.optimiser.expansion import expand
from dovetail.policies.optimiser.greedy import fill_often
from dovetail.policies.optimiser.groups import groups_of
from dovetail.policies.optimiser.highs import load_highs, solve
from dovetail.policies.optimiser.job_arrays import arrays_of_jobs
from dovetail.policies.optimiser.model import model_of
from dovetail.policies.optimiser.objective import worth
from dovetail.policies.optimiser.reduced_problem import Reduced

NODES = 100
"""Of HiGHS' search; problems of 16 jobs on 64 to 1,000 cluster nodes are solved in the first."""

SAFETY_SECONDS = 10.0
"""Hundreds of times what a plan takes (10 to 60 ms): the clock must not decide a simulation."""


@dataclass(frozen=True, slots=True)
class Reduction:
    """How far a problem is cut down before it is solved; `EXACT` cuts nothing off."""

    candidates: int = 8
    singles: int = 4

    def __post_init__(self) -> None:
        if self.candidates < 1 or self.singles < 1:
            raise ConfigError(f"{self}: both numbers must be 1 or more")


PRODUCTION = Reduction()
STARTS = 64
"""256 take 1.2 ms more and gain 0.1 % on average, 16 jobs on 64 to 1,000 nodes; a solver that has
tens of milliseconds starts from these."""

EXACT = Reduction(candidates=1 << 30, singles=1 << 30)


def reduce_problem(problem: Problem, reduction: Reduction = PRODUCTION) -> Reduced:
    """Equal nodes merged, and a few groups of them for each job to choose from."""
    if not problem.jobs:
        raise ConfigError("a problem needs at least one job")
    asks = arrays_of_jobs(problem)
    groups = groups_of(problem, asks, reduction.singles)
    return Reduced(asks, groups, candidates_of(asks, groups, reduction.candidates))


def has_choice(problem: Problem) -> bool:
    """Whether there is anything to optimise: False if nothing can start now, or all in one way."""
    return choice_in(reduce_problem(problem))


def multistart_greedy(
    problem: Problem, starts: int = STARTS, seed: int = 0, reduction: Reduction = PRODUCTION
) -> Plan:
    """The best of `starts` greedy plans over different orders of the jobs; no solver needed."""
    began = time.perf_counter()
    reduced = reduce_problem(problem, reduction)
    _, rows = fill_often(reduced, starts, seed)
    return _plan(problem, reduced, rows, "greedy", None, began, f"best of {starts} greedy orders")


def optimise(
    problem: Problem,
    gap: float = 0.005,
    reduction: Reduction = PRODUCTION,
    nodes: int = NODES,
    budget_seconds: float = SAFETY_SECONDS,
) -> Plan:
    """The best plan that HiGHS finds in so many nodes, never below that of the greedy start.

    The same problem gives the same plan: the work done ends the search. Only if the budget of
    time runs out first does the clock decide, and the plan says so (`timed_out`). `gap` bounds how
    far the reduced problem's best may lie above a plan that was solved.
    """
    load_highs()
    began = time.perf_counter()
    reduced = reduce_problem(problem, reduction)
    greedy_value, rows = fill_often(reduced, 256, 0)
    if not choice_in(reduced):
        why = "not solved: nothing can start now, or everything starts in its only way"
        return _plan(problem, reduced, rows, "greedy", None, began, why)
    model = model_of(reduced, rows)
    solved = solve(model, nodes, budget_seconds, gap)
    ended = "when the time ran out" if solved.timed_out else f"in {nodes} nodes"
    if solved.rows is not None:
        plan = _plan(problem, reduced, solved.rows, "milp", solved.gap, began, "")
        if plan.value > greedy_value:
            how = "solved" if solved.proven else f"best found {ended}"
            gained = plan.value - greedy_value
            why = f"{how}, gap {100 * (solved.gap or 0.0):.2f} %, {gained} points above greedy"
            return replace(plan, reason=why, timed_out=solved.timed_out)
    why = "HiGHS found nothing better than the greedy plan"
    why = why if solved.proven else f"{why} {ended}"
    plan = _plan(problem, reduced, rows, "greedy", solved.gap, began, why)
    return replace(plan, timed_out=solved.timed_out)


def warm_up() -> None:
    """Load HiGHS and all kernels, so that the first decision keeps its budget too."""
    nodes = NodeState(
        np.array([[2, 0, 0], [1, 0, 0]]), np.zeros(2, np.int64), np.zeros(2, np.int64)
    )
    job = JobAsk((JobShape(1, ChunkDemand(1)),), 1.0, 1)
    optimise(Problem(nodes, (job, job)))


def _plan(
    problem: Problem,
    reduced: Reduced,
    rows: Ints,
    solver: str,
    gap: float | None,
    began: float,
    reason: str,
) -> Plan:
    parts = expand(problem, reduced, rows)
    points = worth(problem, parts)
    now = sum(part.starts_now for part in parts)
    told = f"{now} of {len(parts)} jobs start now; {reason}"
    return Plan(parts, points, solver, gap, time.perf_counter() - began, told)
