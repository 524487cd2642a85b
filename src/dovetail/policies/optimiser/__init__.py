"""Placement by an optimiser: which of the first jobs start now, and on which nodes.

    problem = Problem(NodeState(free, kind, switch, releases), jobs, now)
    plan = optimise(problem) if has_choice(problem) else multistart_greedy(problem)
    for part in plan.starts: start(part.job, part.nodes, part.chunks)

`multistart_greedy` (about a millisecond) is meant for simulation and training, `optimise` (HiGHS,
with a fixed amount of work) for better plans; both maximise `value` and answer with a `Plan`.
"""

from __future__ import annotations

from dovetail.domain.plan import JobPlan, Plan
from dovetail.domain.problem import (
    ANY_KIND,
    ChunkDemand,
    JobAsk,
    JobShape,
    NodeState,
    Problem,
    Releases,
    kind_mask,
    kinds_by,
    weights_by_rank,
)
from dovetail.policies.optimiser.objective import value
from dovetail.policies.optimiser.rltune import rltune_way
from dovetail.policies.optimiser.solvers import (
    EXACT,
    PRODUCTION,
    Reduction,
    has_choice,
    multistart_greedy,
    optimise,
    warm_up,
)

__all__ = [
    "ANY_KIND",
    "EXACT",
    "PRODUCTION",
    "ChunkDemand",
    "JobAsk",
    "JobPlan",
    "JobShape",
    "NodeState",
    "Plan",
    "Problem",
    "Reduction",
    "Releases",
    "has_choice",
    "kind_mask",
    "kinds_by",
    "multistart_greedy",
    "optimise",
    "rltune_way",
    "value",
    "warm_up",
    "weights_by_rank",
]
