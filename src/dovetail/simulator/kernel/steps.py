"""EASY passes that stop where there is something to decide, so that an agent can choose.

    more = go_on(w, rules, 0)                            # to the first decision
    while more:
        more = go_on(w, rules, choose(w, rules, job))    # or decline(w)

Whoever always chooses the candidate with the lowest (score, row) gets the schedule of `easy_pass`.
What a pass must remember between two calls lies in the world already: the reservations, and
which demands are open and fit.
"""

from __future__ import annotations

import math

from dovetail.compiled.functions import inner
from dovetail.simulator.kernel import part_calls, reservations
from dovetail.simulator.kernel.admission import option_fits
from dovetail.simulator.kernel.loop import go_to, next_time
from dovetail.simulator.kernel.next_job import latest_end
from dovetail.simulator.kernel.pass_opening import begin_pass
from dovetail.simulator.kernel.passes import start
from dovetail.simulator.kernel.planned import find_nodes
from dovetail.simulator.kernel.queue import ends_in_time, remove, seek
from dovetail.simulator.kernel.rows import World
from dovetail.simulator.kernel.rules import Rules
from dovetail.simulator.kernel.state import demand, job_facts, option, reservation, run_of, waiting


@inner
def go_on(w: World, rules: Rules, fitting: int) -> bool:
    """Up to the next decision, from a pass in which so many demands fit; False: the end.

    A decision has two candidates at least; a lone one is taken without asking.
    """
    while True:
        while fitting > 0:
            count, job = first_two(w)
            if count > 1:
                return True
            if count == 0:
                break
            fitting = choose(w, rules, job)
        if w.reservation_count > 0:
            _end_pass(w)
        now = next_time(w)
        if now == math.inf:
            return False
        fitting = begin_pass(w, rules) if go_to(w, rules, now) else 0


@inner
def choose(w: World, rules: Rules, job: int) -> int:
    """Start a candidate, or reserve for it if it does not fit; returns how many demands fit."""
    number = run_of(w, job).demand
    mine = demand(w, number)
    kinds, reserved = mine.kinds, reserved_kinds(w)
    if mine.fits:
        return start_on_picked(w, rules, job, find_nodes(w, rules, job))
    reservations.make_reservation(w, number, job)
    mine.open = False
    return narrow(w, rules, kinds, reserved | kinds)


@inner
def start_on_picked(w: World, rules: Rules, job: int, chosen: int) -> int:
    """Start a candidate in an option, on the nodes picked; -1: no nodes were found for it."""
    number = run_of(w, job).demand
    mine = demand(w, number)
    kinds, reserved = mine.kinds, reserved_kinds(w)
    if chosen >= 0:
        start(w, job, chosen)
        run_of(w, job).backfilled = kinds & reserved != 0
        remove(w, rules, number, _position(w, number, job))
        if mine.active_at >= 0:
            seek(w, rules, number, mine.low)
        if w.limited:
            part_calls.close_limited(w)
    else:  # no candidate after all: never ask about it twice
        mine.open = False
    return narrow(w, rules, kinds, reserved)


@inner
def decline(w: World) -> int:
    """Backfill nothing more in this pass; returns how many demands still fit.

    Demands that meet no reservation go on: partitions never block each other.
    """
    reserved, fitting = reserved_kinds(w), 0
    for i in range(w.active_count):
        mine = demand(w, demand(w, i).active)
        if mine.kinds & reserved:
            mine.open = False
        fitting += mine.open and mine.fits
    return fitting


@inner
def wait(w: World, rules: Rules, best: int) -> bool:
    """Start nothing more before the next event, and go on from there; False: the end.

    When nothing else is to happen, the best candidate is chosen all the same: waiting would be
    the end, with jobs in the queue.
    """
    if next_time(w) == math.inf:
        return go_on(w, rules, choose(w, rules, best))
    for i in range(w.active_count):
        demand(w, demand(w, i).active).open = False
    if go_on(w, rules, 0):
        return True
    # All that was still to happen led to no pass, as the arrival of a job that is rejected.
    return w.active_count > 0 and go_on(w, rules, begin_pass(w, rules))


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
            was_behind = mine.behind == w.passes
            if mine.fits and (latest < mine.latest_end or passes_by != was_behind):
                mine.latest_end, mine.behind = latest, w.passes if passes_by else -1
                seek(w, rules, number, mine.cursor)
        if not mine.fits and mine.kinds & reserved_kinds:
            mine.open = False
        fitting += mine.fits and mine.open
    return fitting


@inner
def may_decline(w: World) -> bool:
    """Whether a job holds a reservation that another could now pass."""
    reserved = reserved_kinds(w)
    for i in range(w.active_count):
        mine = demand(w, demand(w, i).active)
        if mine.open and mine.kinds & reserved:
            return True
    return False


@inner
def reserved_kinds(w: World) -> int:
    """The kinds that this pass's reservations may use."""
    kinds = 0
    for i in range(w.reservation_count):
        kinds |= demand(w, reservation(w, i).demand).kinds
    return kinds


@inner
def is_candidate(w: World, number: int, job: int) -> bool:
    """Whether a waiting job of an open demand may be chosen: it can start, or can reserve."""
    mine = demand(w, number)
    if mine.latest_end == math.inf:
        return True
    if mine.option_last - mine.option_first == 1:
        return ends_in_time(w, job, mine.speed, mine.latest_end)
    for at in range(mine.option_first, mine.option_last):
        end = w.now + job_facts(w, job).reserve / option(w, at).speed
        if option_fits(w, at, end):
            return True
    return False


@inner
def first_two(w: World) -> tuple[int, int]:
    """How many candidates there are, counted up to two, and the last one seen."""
    rows = waiting(w)
    count, job = 0, -1
    for i in range(w.active_count):
        number = demand(w, i).active
        mine = demand(w, number)
        if mine.open:
            for at in range(mine.low, mine.high):
                if is_candidate(w, number, rows[at]):
                    count, job = count + 1, rows[at]
                    if count == 2:
                        return count, job
    return count, job


@inner
def _position(w: World, number: int, job: int) -> int:
    rows, at = waiting(w), demand(w, number).low
    while rows[at] != job:
        at += 1
    return at


@inner
def _end_pass(w: World) -> None:
    if w.checked:
        reservations.count_delayed(w)
    reservations.clear(w)
