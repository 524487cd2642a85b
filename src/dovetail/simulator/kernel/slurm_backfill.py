"""What Slurm does: strict order at every event, and every so often a cycle that plans many jobs."""

from __future__ import annotations

import math
from typing import Any

from dovetail.compiled.functions import inner, kernel
from dovetail.simulator.kernel import node_space
from dovetail.simulator.kernel.admission import demand_fits
from dovetail.simulator.kernel.calendar import refresh
from dovetail.simulator.kernel.loop import go_to, next_time
from dovetail.simulator.kernel.passes import (
    begin_pass,
    next_job,
    pass_over,
    start_next,
)
from dovetail.simulator.kernel.queue import shortest_left
from dovetail.simulator.kernel.rows import World
from dovetail.simulator.kernel.rules import Rules
from dovetail.simulator.kernel.state import (
    demand,
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
        before = w.events
        if go_to(w, rules, now):
            run_main_scheduler(w, rules)
        w.news |= w.events > before
        if w.news and w.active_count > 0 and now >= w.last_cycle + w.cycle_interval:
            w.last_cycle = now
            w.news = run_cycle(w, rules)
    return True


@inner
def run_main_scheduler(w: World, rules: Rules) -> None:
    """Start jobs in order; one that cannot closes all nodes of its partition to those after it."""
    fitting = begin_pass(w, rules)
    while fitting > 0:
        number = next_job(w, rules)
        if number < 0:
            break
        kinds, part = demand(w, number).kinds, demand(w, number).partition_kinds
        closed = kinds & ~w.closed_kinds == 0
        if closed or not (demand(w, number).fits and start_next(w, rules, number)):
            w.closed_kinds |= part
            demand(w, number).open = False
        fitting = 0
        for i in range(w.active_count):
            other = demand(w, demand(w, i).active)
            if other.fits and other.kinds & kinds:
                other.fits = demand_fits(w, demand(w, i).active, -math.inf)
            fitting += other.open and other.fits and other.kinds & ~w.closed_kinds != 0
    w.closed_kinds = 0


@inner
def run_cycle(w: World, rules: Rules) -> bool:
    """Plan the first jobs of the queue one after the other; whether any could start at once."""
    if begin_pass(w, rules) == 0:
        return False
    started, planned, looked_at, hope = False, 0, 0, 0
    w.cycle += 1
    number = next_job(w, rules)
    while number >= 0 and looked_at < w.cycle_jobs:
        if w.cycle_user_jobs > 0 and _has_had_enough(w, demand(w, number).account):
            demand(w, number).open = False  # all its jobs are of this user
            number = next_job(w, rules)
            continue
        kinds, job = demand(w, number).kinds, waiting(w)[demand(w, number).cursor]
        if start_next(w, rules, number):
            started = True
            run_of(w, job).backfilled = kinds & planned != 0
            hope = 0
        else:
            _plan(w, job)
            planned |= kinds
            pass_over(w, rules, number)
        looked_at += 1
        hope = _next_hope(w, rules, hope)
        if hope == w.active_count:
            break
        number = next_job(w, rules)
    node_space.clear(w)
    return started


@inner
def _has_had_enough(w: World, number: int) -> bool:
    """Whether this cycle has looked at as many jobs of a user as it may; counts one more."""
    mine = tried(w, number)
    if mine.cycle != w.cycle:
        mine.cycle, mine.jobs = w.cycle, 0
    mine.jobs += 1
    return mine.jobs > w.cycle_user_jobs


@inner
def _next_hope(w: World, rules: Rules, at: int) -> int:
    """The first active demand from `at` on of which a job might still start in this cycle.

    A plan leaves ever less room, so that a demand without hope stays so until a start changes
    the list. Without this, every cycle planned the whole queue: KTH took twice as long.
    """
    while at < w.active_count:
        number = demand(w, at).active
        if demand(w, number).open and _has_hope(w, number, demand(w, number).shortest):
            # The shortest job may be gone or planned by now: that bound kept hope for whole cycles.
            if _has_hope(w, number, shortest_left(w, rules, number)):
                break
        at += 1
    return at


@inner
def _has_hope(w: World, number: int, estimate: float) -> bool:
    """Whether a job of a demand with this estimate could start now."""
    return demand_fits(w, number, w.now + estimate / demand(w, number).speed)


@inner
def _plan(w: World, job: int) -> None:
    """Hold whole nodes from when the job can start, both ends rounded outwards."""
    estimate, mine = job_facts(w, job).reserve, demand(w, run_of(w, job).demand)
    refresh(w)
    best, best_begin = -1, math.inf
    for number in range(mine.option_first, mine.option_last):
        begin = node_space.common_begin(w, number, estimate / option(w, number).speed)
        if begin < best_begin:
            best, best_begin = number, begin
    if best_begin > w.now + w.cycle_window:
        return
    length, step = estimate / option(w, best).speed, w.cycle_resolution
    begin = math.floor(best_begin / step) * step
    end = math.ceil((best_begin + length) / step) * step
    for i in range(node_space.pick_nodes(w, best, best_begin, length)):
        node_space.add_hold(w, node(w, i).picked, begin, end)
