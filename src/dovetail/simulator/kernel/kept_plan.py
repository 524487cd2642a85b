"""The plan of a cycle of Slurm's backfill, kept for the next one while nothing has become free.

Of the cycles over RICC's first 40,000 jobs two in five come after submissions only. What runs is
where it was, so that the same jobs would get the same nodes for the same times: the next cycle goes
on behind the last job that this one has looked at.
"""

from __future__ import annotations

from dovetail.compiled.functions import inner
from dovetail.simulator.kernel import beyond, node_space, openings, plan_search
from dovetail.simulator.kernel.demand_rows import Demand
from dovetail.simulator.kernel.pass_opening import stand_in_order
from dovetail.simulator.kernel.queue import position, seek
from dovetail.simulator.kernel.rows import World
from dovetail.simulator.kernel.rules import Rules
from dovetail.simulator.kernel.state import demand, first_holds, hold, node

ROUNDING = 1.0
"""Seconds; sums of times are rounded."""


@inner
def begin(w: World) -> None:
    """A cycle plans anew."""
    beyond.clear(w)
    openings.clear(w)
    w.cycle += 1
    w.plan_jobs, w.plan_kinds, w.plan_until = 0, 0, w.now + openings.SLACK - ROUNDING
    plan_search.begin_cycle(w)


@inner
def note_begin(w: World, time: float) -> None:
    """A job was planned, or left out, to begin at a time: from then on all may be different."""
    if time > w.now + w.cycle_window:
        time -= w.cycle_window
    w.plan_until = min(w.plan_until, time - ROUNDING)


@inner
def end(w: World, rules: Rules, started: int) -> None:
    """Put the plan away, unless the next cycle could not go on with it.

    Jobs started beside a plan leave it as it is, but not what counts towards limits; limits of work
    change with time alone.
    """
    counted = w.limited or w.cycle_user_jobs > 0
    if (
        w.timed
        or w.eventful
        or w.planner != 0
        or not stand_in_order(w, rules)
        or (counted and started > 0)
    ):
        plan_search.end_cycle(w)
        node_space.clear(w)
        return
    w.plan_stands, w.plan_jobs = True, w.plan_jobs - started
    w.plan_holds, w.plan_first_hold = w.hold_count, w.first_hold
    node_space.clear(w)


@inner
def forget(w: World) -> None:
    """Something has become free, or was taken."""
    if w.plan_stands:
        w.plan_stands = False
        w.hold_count = w.plan_holds
        plan_search.end_cycle(w)
        w.hold_count = 0


@inner
def resume(w: World, rules: Rules) -> bool:
    """Take the plan up again; False: there is none that would come out the same."""
    if not w.plan_stands:
        return False
    if w.now >= w.plan_until or _jobs_in_front(w) != w.plan_jobs:
        forget(w)
        return False
    w.plan_stands = False
    w.hold_count, w.first_hold = w.plan_holds, w.plan_first_hold
    for i in range(w.hold_count):  # one that others were joined with begins before them
        if hold(w, i).begin == first_holds(w)[hold(w, i).node]:
            node(w, hold(w, i).node).hold = i
    for i in range(w.active_count):
        number = demand(w, i).active
        if demand(w, number).open:
            seek(w, rules, number, _first_behind(w, demand(w, number)))
    return True


@inner
def note_looked_at(w: World, tier: int, score: float, job: int) -> None:
    """A cycle has looked at a job, the last one so far."""
    w.plan_jobs += 1
    w.plan_tier, w.plan_score, w.plan_job = tier, score, job


@inner
def _jobs_in_front(w: World) -> int:
    """Jobs that stand where the plan has looked: more than it has, if others came in between."""
    count = 0
    for i in range(w.active_count):
        mine = demand(w, demand(w, i).active)
        if mine.open:
            count += _first_behind(w, mine) - mine.low
    return count


@inner
def _first_behind(w: World, mine: Demand) -> int:
    """The place in a list behind the last job that the plan has looked at."""
    if w.plan_jobs == 0 or mine.tier > w.plan_tier:
        return mine.low
    if mine.tier < w.plan_tier:
        return mine.high
    return position(w, mine.low, mine.high, w.plan_score, w.plan_job + 1)
