"""The two solvers behind one interface, and when neither is worth asking."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from dovetail.domain.errors import ConfigError
from dovetail.domain.jobs import Ints
from dovetail.domain.plan import Plan
from dovetail.domain.problem import Chunk, JobAsk, NodeState, Problem, Shape
from dovetail.policies.optimiser.asks import asks_of
from dovetail.policies.optimiser.candidates import candidates_of
from dovetail.policies.optimiser.choice import choice_in
from dovetail.policies.optimiser.expand import expand
from dovetail.policies.optimiser.greedy import fill_often
from dovetail.policies.optimiser.groups import groups_of
from dovetail.policies.optimiser.highs import load_highs, solve
from dovetail.policies.optimiser.model import model_of
from dovetail.policies.optimiser.objective import worth
from dovetail.policies.optimiser.reduced import Reduced

LEAST_SECONDS = 0.005
"""Building the model takes 2.5 to 6 ms: with less left, HiGHS is not started."""


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
    asks = asks_of(problem)
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
    budget_seconds: float = 0.25,
    gap: float = 0.005,
    reduction: Reduction = PRODUCTION,
) -> Plan:
    """The best plan that HiGHS finds within the budget, never below that of the greedy start.

    The same problem gives the same plan as long as the budget does not run out; `gap` then bounds
    how far the reduced problem's best may lie above it. Loading the solver and the kernels, on the
    first call, is outside the budget only if `warm_up` has done it before.
    """
    load_highs()
    began = time.perf_counter()
    reduced = reduce_problem(problem, reduction)
    greedy_value, rows = fill_often(reduced, 256, 0)
    if not choice_in(reduced):
        why = "not solved: nothing can start now, or everything starts in its only way"
        return _plan(problem, reduced, rows, "greedy", None, began, why)
    ran_out = f"the budget of {budget_seconds:g} s ran out; the greedy plan stands"
    left = budget_seconds - (time.perf_counter() - began)
    if left < LEAST_SECONDS:
        return _plan(problem, reduced, rows, "greedy", None, began, ran_out)
    model = model_of(reduced, rows)
    solved = solve(model, budget_seconds - (time.perf_counter() - began), gap)
    if solved.rows is None:
        return _plan(problem, reduced, rows, "greedy", None, began, ran_out)
    plan = _plan(problem, reduced, solved.rows, "milp", solved.gap, began, "")
    if plan.value <= greedy_value:
        why = ran_out if solved.out_of_time else "HiGHS found nothing better than the greedy plan"
        return _plan(problem, reduced, rows, "greedy", solved.gap, began, why)
    how = "best found when the budget ran out" if solved.out_of_time else "solved"
    gained = plan.value - greedy_value
    why = f"{how}, gap {100 * (solved.gap or 0.0):.2f} %, {gained} points above greedy"
    return Plan(plan.jobs, plan.value, "milp", solved.gap, plan.seconds, why)


def warm_up() -> None:
    """Load HiGHS and all kernels, so that the first decision keeps its budget too."""
    nodes = NodeState(
        np.array([[2, 0, 0], [1, 0, 0]]), np.zeros(2, np.int64), np.zeros(2, np.int64)
    )
    job = JobAsk((Shape(1, Chunk(1)),), 1.0, 1)
    optimise(Problem(nodes, (job, job)), budget_seconds=60.0)


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
