"""A job that comes alone to an empty queue starts at once, if there is room.

No other job could go before it, so that it needs no place in a queue: on a cluster with little load
that is most jobs.
"""

from __future__ import annotations

import math

from dovetail.compiled.functions import inner
from dovetail.simulator.kernel.admission import demand_fits
from dovetail.simulator.kernel.passes import start
from dovetail.simulator.kernel.placement import place
from dovetail.simulator.kernel.queue import add
from dovetail.simulator.kernel.rows import World
from dovetail.simulator.kernel.rules import Rules, score_one
from dovetail.simulator.kernel.state import event, job_facts, scratch_score


@inner
def starts_at_once(w: World, rules: Rules) -> bool:
    """Whether room alone decides about a lone job: no limit, plan, outage or other job does."""
    if w.limited or w.linked or w.eventful:
        return False
    if rules.unsorted and (rules.uses_state or rules.half_life > 0.0):
        return False  # the score, which may keep a job waiting, needs more than the job
    return w.planner == 0 and w.ranker == 0 and w.assigner == 0


@inner
def comes_alone(w: World, now: float) -> bool:
    """Whether all that happens now is that one job comes to an empty queue."""
    following = w.submitted + 1
    if w.active_count > 0 or following > w.job_count or job_facts(w, following - 1).submit != now:
        return False
    if following < w.job_count and job_facts(w, following).submit == now:
        return False
    return w.pending == 0 or event(w, 0).time > now


@inner
def start_or_wait(w: World, rules: Rules, job: int, number: int) -> bool:
    """Start a lone job of a demand; True: it has to wait, and a pass is due."""
    if demand_fits(w, number, -math.inf) and not _is_kept_waiting(w, rules, job):
        chosen = place(w, rules.prefer, rules.few_switches, job)
        if chosen >= 0:
            start(w, job, chosen)
            return False
    add(w, rules, number, job)
    return True


@inner
def _is_kept_waiting(w: World, rules: Rules, job: int) -> bool:
    """Whether an ordering may want GPUs left free beside a job: a pass sees whether there are.

    Orderings are asked as often and at the same times as in passes: a user's function may count
    that, or fail.
    """
    if rules.heads_only:
        return False
    score_one(w, rules, job)
    return rules.unsorted and scratch_score(w)[2] > 0.0
