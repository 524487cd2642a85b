"""The event loop: completions, overruns, submissions, then one pass."""

from __future__ import annotations

import math
from typing import Any

from dovetail.compiled.functions import inner, kernel, merged_kernel
from dovetail.domain.policy import Backfill
from dovetail.simulator.kernel import events, part_calls, promises
from dovetail.simulator.kernel.allocation import mark_stale
from dovetail.simulator.kernel.at_once import comes_alone, start_or_wait, starts_at_once
from dovetail.simulator.kernel.conservative import conservative_pass
from dovetail.simulator.kernel.departure import leave_nodes
from dovetail.simulator.kernel.eligibility_rows import ENDED, STARTED
from dovetail.simulator.kernel.in_use import count_in_use
from dovetail.simulator.kernel.passes import easy_pass, pass_without_backfilling
from dovetail.simulator.kernel.queue import add
from dovetail.simulator.kernel.revisions import next_revision, revise
from dovetail.simulator.kernel.rows import World
from dovetail.simulator.kernel.rules import Rules
from dovetail.simulator.kernel.state import (
    account,
    cluster_facts,
    demand,
    event,
    history,
    job_facts,
    large,
    part,
    run_of,
    seen,
)


# One loop for each kind of pass: a run compiles the one that it needs, which saves a fifth.
@kernel
def advance_without_backfilling(world: Any, rules: Rules, steps: int) -> bool:
    """Go through up to `steps` event times; False when nothing is left to happen."""
    w = world[0]
    alone = starts_at_once(w, rules)
    for _ in range(steps):
        now = next_time(w)
        if now == math.inf:
            return False
        if alone and comes_alone(w, now):
            due = _take_lone_job(w, rules, now)
        else:
            due = go_to(w, rules, now)
        if due:
            pass_without_backfilling(w, rules)
    return True


@merged_kernel
def advance_easy(world: Any, rules: Rules, steps: int) -> bool:
    w = world[0]
    alone = starts_at_once(w, rules)
    for _ in range(steps):
        now = next_time(w)
        if now == math.inf:
            return False
        if alone and comes_alone(w, now):
            due = _take_lone_job(w, rules, now)
        else:
            due = go_to(w, rules, now)
        if due:
            easy_pass(w, rules)
    return True


@kernel
def advance_conservative(world: Any, rules: Rules, steps: int) -> bool:
    w = world[0]
    for _ in range(steps):
        now = next_time(w)
        if w.next_promise <= now:
            w.next_promise = promises.earliest(w)
            now = min(now, w.next_promise)
        if now == math.inf:
            return False
        if go_to(w, rules, now) or w.next_promise == now:
            conservative_pass(w, rules)
    return True


ADVANCE = {
    Backfill.NONE: advance_without_backfilling,
    Backfill.EASY: advance_easy,
    Backfill.CONSERVATIVE: advance_conservative,
}


@inner
def next_time(w: World) -> float:
    """When something happens next; inf: nothing is left to happen."""
    soonest = math.inf
    if w.pending > 0:
        soonest = event(w, 0).time
    if w.submitted < w.job_count:
        return min(soonest, job_facts(w, w.submitted).submit)
    if w.eventful and w.pending == w.node_events_left and w.active_count == 0:
        return math.inf  # no job is left that could notice
    return soonest


@inner
def go_to(w: World, rules: Rules, now: float) -> bool:
    """Let everything of that moment happen; whether a pass is due."""
    _let_time_pass(w, rules.half_life, now)
    changed = _end_jobs(w, rules)
    changed |= _submit_jobs(w, rules)
    if w.linked:  # who has waited for a job that was rejected just now
        changed |= _end_jobs(w, rules)
    return changed and w.active_count > 0


@inner
def _take_lone_job(w: World, rules: Rules, now: float) -> bool:
    """The same for a moment at which one job comes to an empty queue and nothing else happens."""
    _let_time_pass(w, rules.half_life, now)
    w.events += 1
    job = w.submitted
    w.submitted += 1
    number = run_of(w, job).demand
    if number < 0:
        return False
    _note_submission(w, rules, job, number)
    return start_or_wait(w, rules, job, number)


@inner
def _let_time_pass(w: World, half_life: float, now: float) -> None:
    """Integrals over the time since the last event."""
    elapsed = now - w.now
    w.now = now
    cluster_facts(w, 0).now = now
    if w.free_gpus > 0:
        w.stranded_area += elapsed * w.stranded_gpus / w.free_gpus
    if w.share_count > 0:
        if now >= w.last_shares + w.share_period:
            part_calls.calculate_shares(w, half_life)
    elif half_life > 0.0 and elapsed > 0.0:
        keep = 2.0 ** (-elapsed / half_life)
        for i in range(w.account_count):
            mine = account(w, i)
            gained = mine.gpus * half_life / math.log(2.0) * (1.0 - keep)
            mine.usage = mine.usage * keep + gained


@inner
def _end_jobs(w: World, rules: Rules) -> bool:
    """Completions, overruns and what else has this moment; whether anything was freed or came."""
    changed = False
    while w.pending > 0 and event(w, 0).time == w.now:
        code = events.pop(w)
        w.events += 1
        if code < w.job_count:
            changed = True
            _end(w, code)
            if rules.predicts:
                rules.observe(history(w), code, run_of(w, code).run)
        elif code < 2 * w.job_count:
            _overrun(w, code)
        elif code < 3 * w.job_count:
            job = code - 2 * w.job_count
            job_facts(w, job).submit = w.now
            changed |= _arrive(w, rules, job)
        else:
            changed = True
            part_calls.happen(w, code - 3 * w.job_count)
    return changed


@inner
def _end(w: World, job: int) -> None:
    leave_nodes(w, job)
    if w.limited:
        part_calls.count_submitted(w, run_of(w, job).demand, -1)
    if w.linked:
        part_calls.note_moment(w, job, ENDED)


@inner
def _overrun(w: World, code: int) -> None:
    """A job runs on: the estimate of what is left of it changes, or has proved too short."""
    job = code - w.job_count
    mine = run_of(w, job)
    if w.charged:
        count_in_use(w, mine, job_facts(w, job).size, -1)
    if revise(w, job):
        w.extended = True
        for at in range(mine.part_first, mine.part_first + mine.part_count):
            mark_stale(w, part(w, at).node)
    if w.charged:
        count_in_use(w, mine, job_facts(w, job).size, 1)
    if next_revision(w, job) < mine.end:
        events.push(w, next_revision(w, job), code)


@inner
def _submit_jobs(w: World, rules: Rules) -> bool:
    """Submissions of this moment; whether any job can wait (rejected ones do not)."""
    came = False
    while w.submitted < w.job_count and job_facts(w, w.submitted).submit == w.now:
        came |= submit_next(w, rules)
        w.events += 1
    return came


@inner
def submit_next(w: World, rules: Rules) -> bool:
    """Submit the next job of the trace; False if it is rejected."""
    job = w.submitted
    w.submitted += 1
    if w.linked:
        part_calls.pass_held(w)
    return _arrive(w, rules, job)


@inner
def _arrive(w: World, rules: Rules, job: int) -> bool:
    """A job wants to run; False if it is rejected."""
    number = run_of(w, job).demand
    if number >= 0 and not (w.limited and _is_refused(w, job, number)):
        _note_submission(w, rules, job, number)
        add(w, rules, number, job)
        return True
    if w.linked:
        part_calls.note_moment(w, job, STARTED)  # one that never runs keeps nobody waiting
        part_calls.note_moment(w, job, ENDED)
    return False


@inner
def _is_refused(w: World, job: int, number: int) -> bool:
    """Whether a job is one too many; else it is counted."""
    refused = part_calls.is_refused(w, number) != 0
    if refused:
        run_of(w, job).refused = True
    else:
        part_calls.count_submitted(w, number, 1)
    return refused


@inner
def _note_submission(w: World, rules: Rules, job: int, number: int) -> None:
    """What predictors and placements learn of a job that comes."""
    if rules.predicts:
        job_facts(w, job).predicted = rules.predict(history(w), job)
    seen(w)[large(w, demand(w, number).option_first).gpus] += 1
