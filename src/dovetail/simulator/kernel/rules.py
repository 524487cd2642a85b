"""The policy as the kernels see it."""

from __future__ import annotations

from typing import Any, NamedTuple

from numba import types

from dovetail.compiled.functions import LazyFunction, inner
from dovetail.compiled.native import native_type
from dovetail.domain.errors import ConfigError
from dovetail.domain.jobs import Floats
from dovetail.domain.policy import OBSERVE, PREDICT, PREFER, SCORE, Ordering, Placement, Varies
from dovetail.simulator.kernel.rows import World
from dovetail.simulator.kernel.state import (
    accounts,
    all_demand_facts,
    cluster,
    jobs,
    scratch_row,
    scratch_score,
)

WORST = 1.7e308
"""Stands for scores that are infinite or not a number; inf itself marks jobs passed over."""


class Rules(NamedTuple):
    """Compiled functions (see domain.policy) and what the passes ask about them.

    Kernels pass this by value: a dozen times per job, so that every word here counts.
    """

    score: Any
    prefer: Any
    predict: Any
    observe: Any
    parameters: Floats
    half_life: float
    unsorted: bool  # lists are in no order: every job is scored anew in a pass
    uses_state: bool  # DemandFacts and ClusterFacts are to be kept
    heads_only: bool  # lists are in order of submission: only their next jobs are scored
    few_switches: bool
    predicts: bool  # history is kept and asked


RULES = native_type(
    Rules,
    score=types.FunctionType(SCORE),
    prefer=types.FunctionType(PREFER),
    predict=types.FunctionType(PREDICT),
    observe=types.FunctionType(OBSERVE),
)


def make_rules(
    ordering: Ordering,
    placement: Placement,
    predict: LazyFunction,
    observe: LazyFunction,
) -> Rules:
    """Rules from policies."""
    if ordering.uses_state and ordering.varies is not Varies.ALWAYS:
        raise ConfigError(f"ordering {ordering.name} looks at the cluster: it varies always")
    return Rules(
        score=ordering.score.pointer,
        prefer=placement.prefer.pointer,
        predict=predict.pointer,
        observe=observe.pointer,
        parameters=ordering.numbers(),
        half_life=float(ordering.half_life),
        unsorted=ordering.varies is Varies.ALWAYS,
        uses_state=ordering.uses_state,
        heads_only=ordering.varies is Varies.BETWEEN_ACCOUNTS,
        few_switches=placement.few_switches,
        predicts=ordering.uses_prediction,
    )


def unsorted_rules(rules: Rules) -> Rules:
    """The same where jobs do not come in the order of their rows: lists have none to rely on."""
    if not rules.heads_only:
        return rules
    return rules._replace(unsorted=True, heads_only=False)


@inner
def score_one(w: World, rules: Rules, job: int) -> float:
    """The score of one job now."""
    row, out = scratch_row(w), scratch_score(w)
    row[0] = job
    out[1] = out[2] = 0.0
    rules.score(
        rules.parameters, jobs(w), accounts(w), all_demand_facts(w), cluster(w),
        row, out[:1], out[1:2], out[2:],
    )  # fmt: skip
    return out[0] if out[0] < WORST else WORST  # NaN compares false
