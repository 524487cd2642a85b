"""Scheduling passes: what starts now, without backfilling and with EASY."""

from __future__ import annotations

import math

from dovetail.compiled.functions import inner
from dovetail.simulator.kernel import events, part_calls, reservations, turns
from dovetail.simulator.kernel.allocation import take
from dovetail.simulator.kernel.eligibility_rows import STARTED
from dovetail.simulator.kernel.in_use import count_in_use
from dovetail.simulator.kernel.needs import anything_may_fit
from dovetail.simulator.kernel.next_job import gather_passers, let_pass, next_job
from dovetail.simulator.kernel.pass_opening import begin_ordered_pass
from dovetail.simulator.kernel.planned import find_nodes_or_wait, is_assigned
from dovetail.simulator.kernel.queue import remove, seek
from dovetail.simulator.kernel.revisions import believe, next_revision
from dovetail.simulator.kernel.rows import World
from dovetail.simulator.kernel.rules import Rules
from dovetail.simulator.kernel.state import (
    NO_RESERVATION,
    account,
    demand,
    job_facts,
    kind,
    kind_set,
    large,
    node,
    option,
    part,
    run_of,
    scores,
    small,
    waiting,
)


@inner
def start(w: World, job: int, number: int) -> None:
    """Start a job in an option, on the nodes picked."""
    mine, facts, this = run_of(w, job), job_facts(w, job), option(w, number)
    mine.start = w.now
    mine.end = w.now + mine.run / this.speed
    believe(w, job, this.speed)
    if w.charged:
        account(w, facts.account).gpus += facts.size
        count_in_use(w, mine, facts.size, 1)
        if w.share_count > 0:
            mine.charge = this.charge
            part_calls.charge_share(w, mine.share, mine.charge)
    if w.limited:
        part_calls.count_running(w, job, 1)
    if w.linked and mine.restarts == 0:
        part_calls.note_moment(w, job, STARTED)
    if w.eventful:  # its parts have places of their own: it may start more than once
        w.parts = mine.part_first
    mine.part_first = w.parts
    mine.part_count = this.many + this.few
    for i in range(mine.part_count):
        picked = node(w, i).picked
        chunk = large(w, number) if i < this.many else small(w, number)
        part(w, w.parts).node = picked
        if kind(w, node(w, picked).kind).reserved == NO_RESERVATION:
            part(w, w.parts).gpus = take(w, job, picked, chunk)
        else:
            reservations.pay(w, picked, chunk, mine.expected)
            part(w, w.parts).gpus = take(w, job, picked, chunk)
            reservations.count_again(w, picked)
        w.parts += 1
    events.push(w, mine.end, job)
    if next_revision(w, job) < mine.end:
        events.push(w, next_revision(w, job), w.job_count + job)


@inner
def start_next(w: World, rules: Rules, number: int) -> bool:
    """Start the job under the demand's cursor if it can be placed, and move the cursor on."""
    at = demand(w, number).cursor
    job = waiting(w)[at]
    chosen = find_nodes_or_wait(w, rules, job)
    if chosen < 0:
        return False
    start(w, job, chosen)
    after = remove(w, rules, number, at)
    if demand(w, number).active_at >= 0:
        seek(w, rules, number, after)
    turns.note_next_job(w, number)
    return True


@inner
def pass_over(w: World, rules: Rules, number: int) -> None:
    """Leave the job under the cursor waiting and go on to the demand's next one."""
    at = demand(w, number).cursor
    if rules.unsorted:
        scores(w)[at] = math.inf
    seek(w, rules, number, at + 1)
    turns.note_next_job(w, number)


@inner
def _stay(w: World, rules: Rules, number: int) -> None:
    """The job under the cursor has got a reservation; others of its demand may pass it, if it is
    only too long for a node that is to be closed."""
    mine = demand(w, number)
    at = mine.cursor
    mine.behind = w.passes
    if mine.fits:
        if rules.unsorted:
            scores(w)[at] = math.inf
        let_pass(w, rules, number, at + 1)


@inner
def pass_without_backfilling(w: World, rules: Rules) -> None:
    """Start jobs in order until one is blocked; kinds that do not overlap go on."""
    if not begin_ordered_pass(w, rules):
        return
    blocked = 0
    number = next_job(w, rules)
    while number >= 0:
        mine = demand(w, number)
        if mine.kinds & blocked or not (mine.fits and start_next(w, rules, number)):
            blocked |= mine.kinds
            kind_set(w, mine.kind_set).closed = w.passes
        number = next_job(w, rules)
    turns.end_pass(w)


@inner
def easy_pass(w: World, rules: Rules) -> None:
    """Start jobs in order; the first that is blocked gets a reservation, later ones may pass."""
    if not begin_ordered_pass(w, rules):
        return
    reserved_kinds = 0
    number = next_job(w, rules)
    while number >= 0:
        mine = demand(w, number)
        kinds, job = mine.kinds, waiting(w)[mine.cursor]
        if mine.fits and start_next(w, rules, number):
            run_of(w, job).backfilled = kinds & reserved_kinds != 0
            if reserved_kinds and not anything_may_fit(w):
                break
        elif not anything_may_fit(w):
            break
        elif kinds & reserved_kinds or (mine.fits and is_assigned(w, job)):
            # Too long on the slower of several GPU types, a gang that takes too much, or a job that
            # waits by choice: what is free is not kept for that one.
            pass_over(w, rules, number)
        elif reservations.make_reservation(w, number, job):
            reserved_kinds |= kinds
            turns.close(w, kinds)
            _stay(w, rules, number)
            gather_passers(w, rules, reserved_kinds)
        else:  # nobody knows when it could start: it blocks nobody
            turns.set_aside(w, number)
        number = next_job(w, rules)
    turns.end_pass(w)
    if w.checked:
        reservations.count_delayed(w)
    reservations.clear(w)
