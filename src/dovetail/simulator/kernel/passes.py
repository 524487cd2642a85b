"""Scheduling passes: what starts now, without backfilling and with EASY."""

from __future__ import annotations

import math

from dovetail.compiled.functions import inner
from dovetail.simulator.kernel import eligibility, events, fair_tree, limits, reservations
from dovetail.simulator.kernel.admission import demand_fits
from dovetail.simulator.kernel.allocation import take
from dovetail.simulator.kernel.facts import describe
from dovetail.simulator.kernel.planned import find_nodes_or_wait, is_assigned
from dovetail.simulator.kernel.queue import (
    lowest,
    pass_over_before,
    remove,
    rescore,
    seek,
    spared_gpus,
    takes_too_much,
)
from dovetail.simulator.kernel.rows import World
from dovetail.simulator.kernel.rules import Rules
from dovetail.simulator.kernel.state import (
    NO_RESERVATION,
    account,
    closure,
    demand,
    job_facts,
    kind,
    large,
    node,
    option,
    part,
    reservation,
    run_of,
    scores,
    small,
    waiting,
)


@inner
def begin_pass(w: World, rules: Rules) -> int:
    """See which demands fit at all; returns how many. If none does, the pass is over.

    Only if something fits are jobs scored: most passes with a deep queue end right here.
    """
    fitting = see_what_fits(w)
    if fitting == 0:
        return 0
    if rules.half_life > 0.0:
        share_usage(w)
    if rules.uses_state:
        describe(w)
    if rules.unsorted:
        rescore(w, rules)
    for i in range(w.active_count):
        number = demand(w, i).active
        demand(w, number).latest_end = math.inf
        demand(w, number).behind = False
        seek(w, rules, number, demand(w, number).low)
    if w.limited:
        limits.close_limited(w)
    return fitting


@inner
def see_what_fits(w: World) -> int:
    """Note of every demand whether it fits now; returns how many do."""
    fitting = 0
    for i in range(w.active_count):
        mine = demand(w, demand(w, i).active)
        mine.fits = demand_fits(w, demand(w, i).active, -math.inf)
        if w.limited and mine.fits:
            mine.fits = not limits.at_limit(w, demand(w, i).active)
        fitting += mine.fits
    return fitting


@inner
def share_usage(w: World) -> None:
    """Fair-share factors from what every account has used; a tree has its own times for it."""
    if w.share_count > 0:
        return
    total = 0.0
    for i in range(w.account_count):
        total += account(w, i).usage
    for i in range(w.account_count):
        mine = account(w, i)
        if total > 0.0:
            mine.fair_share = 2.0 ** (-(mine.usage / total) * w.account_count)
        else:
            mine.fair_share = 1.0


@inner
def next_demand(w: World) -> int:
    """The open demand whose next job comes first in the order; -1: none is open."""
    rows = waiting(w)
    best, best_score, best_job, best_tier = -1, math.inf, -1, 0
    for i in range(w.active_count):
        mine = demand(w, demand(w, i).active)
        if mine.open:
            score, job = mine.cursor_score, rows[mine.cursor]
            if best >= 0 and mine.tier != best_tier:
                better = mine.tier < best_tier
            else:
                better = score < best_score or (score == best_score and job < best_job)
            if best < 0 or better:
                best, best_score, best_job = demand(w, i).active, score, job
                best_tier = mine.tier
    return best


@inner
def next_job(w: World, rules: Rules) -> int:
    """The same, jobs passed over that would leave too few GPUs free.

    All of a demand at once: one by one, each costs a search, and a thousand that wait for the same
    made a pass quadratic.
    """
    number = next_demand(w)
    if number < 0 or not _is_to_wait(w, number):
        return number
    while number >= 0 and _is_to_wait(w, number):
        mine = demand(w, number)
        mine.passing = True
        mine.cursor = lowest(w, number, spared_gpus(w, number))
        mine.open = mine.cursor >= 0
        if mine.open:
            mine.cursor_score = scores(w)[mine.cursor]
        number = next_demand(w)
    score, job = math.inf, w.job_count
    if number >= 0:
        score, job = demand(w, number).cursor_score, waiting(w)[demand(w, number).cursor]
    for i in range(w.active_count):
        mine = demand(w, demand(w, i).active)
        if mine.passing:
            mine.passing = False
            if number >= 0 and mine.tier < demand(w, number).tier:  # all of it stands before
                pass_over_before(w, demand(w, i).active, math.inf, w.job_count)
            else:
                pass_over_before(w, demand(w, i).active, score, job)
            seek(w, rules, demand(w, i).active, mine.low)
    return number


@inner
def _is_to_wait(w: World, number: int) -> bool:
    """Whether the next job of a demand could start, but would leave too few GPUs free."""
    mine = demand(w, number)
    return mine.fits and takes_too_much(w, number, mine.cursor)


@inner
def start(w: World, job: int, number: int) -> None:
    """Start a job in an option, on the nodes picked."""
    mine, facts, this = run_of(w, job), job_facts(w, job), option(w, number)
    mine.start = w.now
    mine.end = w.now + mine.run / this.speed
    mine.length = facts.reserve / this.speed
    mine.expected = w.now + mine.length
    if w.charged:
        account(w, facts.account).gpus += facts.size
        if w.share_count > 0:
            mine.charge = this.charge
            fair_tree.charge(w, mine.share, mine.charge)
    if w.limited:
        limits.count_running(w, mine.demand, 1)
    if w.linked and mine.restarts == 0:
        eligibility.note(w, job, eligibility.STARTED)
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
    if mine.expected < mine.end:
        events.push(w, mine.expected, w.job_count + job)


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
    if w.limited:
        limits.close_limited(w)
    return True


@inner
def pass_without_backfilling(w: World, rules: Rules) -> None:
    """Start jobs in order until one is blocked; kinds that do not overlap go on."""
    fitting = begin_pass(w, rules)
    blocked = 0
    while fitting > 0:
        number = next_job(w, rules)
        if number < 0:
            return
        kinds = demand(w, number).kinds
        if not (kinds & blocked == 0 and demand(w, number).fits and start_next(w, rules, number)):
            blocked |= kinds
            demand(w, number).open = False
        fitting = 0
        for i in range(w.active_count):
            other = demand(w, demand(w, i).active)
            if other.fits and other.kinds & kinds:
                other.fits = demand_fits(w, demand(w, i).active, -math.inf)
            fitting += other.open and other.fits and other.kinds & blocked == 0


@inner
def easy_pass(w: World, rules: Rules) -> None:
    """Start jobs in order; the first that is blocked gets a reservation, later ones may pass."""
    fitting = begin_pass(w, rules)
    if fitting == 0:
        return
    reserved_kinds = 0
    while fitting > 0:
        number = next_job(w, rules)
        if number < 0:
            break
        mine = demand(w, number)
        kinds, job = mine.kinds, waiting(w)[mine.cursor]
        if mine.fits:
            if start_next(w, rules, number):
                run_of(w, job).backfilled = kinds & reserved_kinds != 0
                fitting = narrow(w, rules, kinds, reserved_kinds)
            elif kinds & reserved_kinds or is_assigned(w, job):
                # Too long on the slower of several GPU types, a gang that takes too much, or a job
                # that waits by choice: what is free is not kept for that one.
                pass_over(w, rules, number)
            else:  # too long for a node that is to be closed
                if reservations.make_reservation(w, number, job):
                    reserved_kinds |= kinds
                pass_over(w, rules, number)
                fitting = narrow(w, rules, kinds, reserved_kinds)
        else:
            if reservations.make_reservation(w, number, job):
                reserved_kinds |= kinds
            mine.open = False
            fitting = narrow(w, rules, kinds, reserved_kinds)
    if w.checked:
        reservations.count_delayed(w)
    reservations.clear(w)


@inner
def narrow(w: World, rules: Rules, kinds: int, reserved_kinds: int) -> int:
    """After a start or a reservation: what can still start; returns how many demands.

    Demands that cannot start and may not reserve either are closed here all at once: one by
    one, in their turn, they made passes quadratic in the number of demands.
    """
    fitting = 0
    for i in range(w.active_count):
        number = demand(w, i).active
        mine = demand(w, number)
        if mine.open and mine.fits and mine.kinds & kinds:
            passes_by = mine.kinds & reserved_kinds != 0
            latest = latest_end(w, number, passes_by)
            mine.fits = latest > -math.inf
            if mine.fits and (latest < mine.latest_end or passes_by != mine.behind):
                mine.latest_end, mine.behind = latest, passes_by
                seek(w, rules, number, mine.cursor)
        if not mine.fits and mine.kinds & reserved_kinds:
            mine.open = False
        fitting += mine.fits and mine.open
    return fitting


@inner
def latest_end(w: World, number: int, passes_by: bool) -> float:
    """The latest end at which a job of this demand could start now; -inf: it cannot.

    Who passes nobody's reservation is looked at whatever its end: it may have one for itself.
    """
    if demand_fits(w, number, math.inf):
        return math.inf
    if not passes_by:
        return math.inf if demand_fits(w, number, -math.inf) else -math.inf
    best = -math.inf
    for i in range(w.reservation_count):
        when = reservation(w, i).time
        if when > best and demand_fits(w, number, when):
            best = when
    tried = -math.inf
    for i in range(w.closures_begun, w.closure_count):
        when = closure(w, i).begin
        if when > best and when > tried and demand_fits(w, number, when):
            best = when
        tried = when
    return best


@inner
def pass_over(w: World, rules: Rules, number: int) -> None:
    """Leave the job under the cursor waiting and go on to the demand's next one."""
    at = demand(w, number).cursor
    if rules.unsorted:
        scores(w)[at] = math.inf
    seek(w, rules, number, at + 1)
