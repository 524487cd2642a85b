"""What Slurm does: strict order at every event, and every so often a cycle that plans many jobs."""

from __future__ import annotations

import math
from typing import Any

from dovetail.compiled.functions import inner, kernel
from dovetail.simulator.kernel import (
    beyond,
    kept_plan,
    node_space,
    openings,
    part_calls,
    plan_search,
    turns,
)
from dovetail.simulator.kernel.admission import demand_fits
from dovetail.simulator.kernel.calendar import refresh
from dovetail.simulator.kernel.loop import go_to, next_time
from dovetail.simulator.kernel.needs import anything_may_fit, next_met
from dovetail.simulator.kernel.next_job import is_to_wait, next_job
from dovetail.simulator.kernel.pass_opening import begin_ordered_pass, begin_pass
from dovetail.simulator.kernel.passes import pass_over, start_next
from dovetail.simulator.kernel.planned import is_assigned
from dovetail.simulator.kernel.queue import pass_over_before, position, seek, shortest_left
from dovetail.simulator.kernel.rows import World
from dovetail.simulator.kernel.rules import Rules
from dovetail.simulator.kernel.state import (
    demand,
    event,
    job_facts,
    node,
    option,
    run_of,
    tried,
    waiting,
)


@kernel
def advance_slurm(world: Any, rules: Rules, steps: int) -> bool:
    """Go through up to `steps` times of events and cycles; False: nothing is left to happen."""
    w = world[0]
    for _ in range(steps):
        due = w.last_cycle + w.cycle_interval
        now = next_time(w)
        if w.news and w.active_count > 0:
            now = min(now, due)
        if now == math.inf:
            return False
        if w.news and due < now:  # nobody waited: a cycle without jobs
            w.last_cycle, w.news = due, False
        if w.pending > 0 and event(w, 0).time <= now:
            kept_plan.forget(w)
        before = w.events
        if go_to(w, rules, now) and run_main_scheduler(w, rules):
            kept_plan.forget(w)
        w.news |= w.events > before
        if w.news and w.active_count > 0 and now >= w.last_cycle + w.cycle_interval:
            w.last_cycle = now
            w.news = run_cycle(w, rules)
    return True


@inner
def run_main_scheduler(w: World, rules: Rules) -> bool:
    """Start jobs in order; one that cannot closes all nodes of its partition to those after it.

    Whether any has started.
    """
    if not begin_ordered_pass(w, rules):
        return False
    started = False
    number = next_job(w, rules)
    while number >= 0:
        mine = demand(w, number)
        part = mine.partition_kinds
        closed = mine.kinds & ~w.closed_kinds == 0
        if not closed and mine.fits and start_next(w, rules, number):
            started = True
        else:
            w.closed_kinds |= part
            turns.set_aside(w, number)
            if not turns.any_outside(w, w.closed_kinds):
                break
        number = next_job(w, rules)
    w.closed_kinds = 0
    turns.end_pass(w)
    return started


@inner
def run_cycle(w: World, rules: Rules) -> bool:
    """Plan the first jobs of the queue one after the other; whether any could start at once."""
    if not anything_may_fit(w) or begin_pass(w, rules) == 0:
        return False
    if not kept_plan.resume(w, rules):
        kept_plan.begin(w)
    started, next_check = 0, 0
    turns.line_up(w)
    number = _next_job(w, rules)
    while number >= 0 and w.plan_jobs < w.cycle_jobs:
        if w.plan_jobs >= next_check:  # ever more seldom: to look takes as long as some plans
            if not _any_hope(w, rules, w.cycle_jobs - w.plan_jobs):
                break
            next_check = w.plan_jobs + 1 + (w.plan_jobs >> 2)
        mine, job = demand(w, number), waiting(w)[demand(w, number).cursor]
        kinds, estimate = mine.kinds, job_facts(w, job).reserve
        kept_plan.note_looked_at(w, mine.tier, mine.cursor_score, job)
        refused = not mine.fits or _was_refused(w, number, estimate)
        if not refused and start_next(w, rules, number):
            started += 1
            run_of(w, job).backfilled = kinds & w.plan_kinds != 0
        else:
            if not is_assigned(w, job):  # else another like it may be let start
                _note_refused(w, number, estimate)
            _plan(w, job)
            w.plan_kinds |= kinds
            pass_over(w, rules, number)
        number = _next_job(w, rules)
    kept_plan.end(w, rules, started)
    turns.line_up_first_jobs(w)
    w.aside_count = 0
    return started > 0


@inner
def _next_job(w: World, rules: Rules) -> int:
    """The demand whose job comes next; -1: none. Who is left out does not count."""
    while True:
        number = turns.first(w)
        if number < 0:
            return -1
        if w.limited and part_calls.at_limit(w, number) != 0:
            turns.set_aside(w, number)
        elif rules.unsorted and is_to_wait(w, number):
            pass_over_before(w, number, math.inf, w.job_count)
            seek(w, rules, number, demand(w, number).low)
            turns.note_next_job(w, number)
        elif w.cycle_user_jobs > 0 and _has_had_enough(w, demand(w, number).account):
            turns.set_aside(w, number)  # all its jobs are of this user
        else:
            return number


@inner
def _has_had_enough(w: World, number: int) -> bool:
    """Whether this cycle has looked at as many jobs of a user as it may; counts one more."""
    mine = tried(w, number)
    if mine.cycle != w.cycle:
        mine.cycle, mine.jobs = w.cycle, 0
    mine.jobs += 1
    return mine.jobs > w.cycle_user_jobs


@inner
def _any_hope(w: World, rules: Rules, left: int) -> bool:
    """Whether one of the next `left` jobs might still start in this cycle.

    A plan without a start changes nothing. To plan as many jobs as a cycle may took KTH twice as
    long. What had hope last mostly has it still: elsewhere four demands are looked at to find one.
    """
    if demand(w, w.hopeful).open and _has_hope(w, rules, w.hopeful, left):
        return True
    at = next_met(w, -1)
    while at >= 0:
        number = option(w, at).demand
        if demand(w, number).open and _has_hope(w, rules, number, left):
            w.hopeful = number
            return True
        at = next_met(w, at)
    return False


@inner
def _has_hope(w: World, rules: Rules, number: int, left: int) -> bool:
    # Who stands too far behind is told sooner than whether there is room. Who is left out does not
    # count.
    counted = not (rules.unsorted or rules.heads_only or w.limited or w.cycle_user_jobs > 0)
    if counted and _jobs_before(w, number, left) >= left:
        return False
    if not _could_start(w, number, demand(w, number).shortest):
        return False
    # The shortest job may be gone or planned by now, or stand too far behind.
    most = w.job_count if rules.unsorted else left
    return _could_start(w, number, shortest_left(w, rules, number, most))


@inner
def _could_start(w: World, number: int, estimate: float) -> bool:
    """Whether a job of a demand with this estimate could start now."""
    if _was_refused(w, number, estimate):
        return False
    could = demand_fits(w, number, w.now + estimate / demand(w, number).speed)
    if not could:
        _note_refused(w, number, estimate)
    return could


@inner
def _was_refused(w: World, number: int, estimate: float) -> bool:
    """Whether a job that asks for the same for no longer could not start in this cycle.

    Starts and plans only take room. To look for nodes for each of a thousand equal jobs was most
    of a cycle.
    """
    mine = demand(w, number)
    return mine.refused_in == w.cycle and mine.refused <= estimate


@inner
def _note_refused(w: World, number: int, estimate: float) -> None:
    mine = demand(w, number)
    if mine.refused_in != w.cycle:
        mine.refused_in, mine.refused = w.cycle, math.inf
    mine.refused = min(mine.refused, estimate)


@inner
def _jobs_before(w: World, number: int, most: int) -> int:
    """Jobs that this cycle looks at before the next one of a demand, counted up to `most`."""
    this, count = turns.turn_of(w, number), 0
    for i in range(w.active_count):
        mine = demand(w, demand(w, i).active)
        if mine.open and mine.tier <= this.tier:
            last = mine.high
            if mine.tier == this.tier:
                last = position(w, mine.cursor, mine.high, this.score, this.job)
            count += last - mine.cursor
            if count >= most:
                break
    return count


@inner
def _plan(w: World, job: int) -> None:
    """Hold whole nodes from when the job can start, both ends rounded outwards."""
    estimate, mine = job_facts(w, job).reserve, demand(w, run_of(w, job).demand)
    best, best_begin, picked = -1, w.now + w.cycle_window, False
    for number in range(mine.option_first, mine.option_last):
        length = estimate / option(w, number).speed
        if beyond.is_beyond(w, number, length):
            continue
        begin, picked = _begin(w, number, length)
        kept_plan.note_begin(w, begin)
        if begin > w.now + w.cycle_window:
            beyond.note(w, number, length)
        elif best < 0 or begin < best_begin:
            best, best_begin = number, begin
    if best < 0:
        return
    length, step = estimate / option(w, best).speed, w.cycle_resolution
    if not picked or mine.option_last - mine.option_first > 1:
        node_space.pick_nodes(w, best, best_begin, length)
    begin = math.floor(best_begin / step) * step
    end = math.ceil((best_begin + length) / step) * step
    for i in range(option(w, best).many + option(w, best).few):
        node_space.add_hold(w, node(w, i).picked, begin, end)
        plan_search.note_holds(w, node(w, i).picked)


@inner
def _begin(w: World, number: int, length: float) -> tuple[float, bool]:
    """The earliest time at which an option can start, and whether its nodes are picked already."""
    refresh(w)
    this = option(w, number)
    if this.few > 0:
        return node_space.common_begin(w, number, w.now, length), False
    heap = -1
    if this.many <= openings.MOST_NODES:
        heap = openings.heap_of(w, this.large_shape, length)
    if heap >= 0:
        begin, picked = openings.earliest(w, heap, this.many)
        if picked:
            return begin, True
    limit = w.now + w.cycle_window + openings.SLACK
    return plan_search.common_begin(w, this.large_shape, length, this.many, limit), True
