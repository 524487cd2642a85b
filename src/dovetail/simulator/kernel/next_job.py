"""Which job comes next in a pass, and which may pass a reserved one."""

from __future__ import annotations

import math

from dovetail.compiled.functions import inner
from dovetail.simulator.kernel import part_calls, turns
from dovetail.simulator.kernel.admission import count_nodes, demand_fits
from dovetail.simulator.kernel.needs import is_met, next_need, next_short_need
from dovetail.simulator.kernel.pass_opening import stand_in_order
from dovetail.simulator.kernel.queue import (
    lowest,
    pass_over_before,
    seek,
    spared_gpus,
    takes_too_much,
)
from dovetail.simulator.kernel.queue_rows import NeedChain
from dovetail.simulator.kernel.rows import World
from dovetail.simulator.kernel.rules import Rules
from dovetail.simulator.kernel.state import (
    closure,
    demand,
    gates,
    need,
    need_chain,
    option,
    reservation,
    scores,
    waiting,
)

ROUNDING = 1.0
"""Seconds: a difference of times may round where their sum does not."""


@inner
def next_job(w: World, rules: Rules) -> int:
    """The demand whose job comes next; -1: nobody is left.

    Jobs that would leave too few GPUs free are passed over, all of a demand at
    once: one by one, each costs a search, and a thousand that wait for the same made a pass
    quadratic.
    """
    number = _next_demand(w, rules)
    if not rules.unsorted or number < 0 or not is_to_wait(w, number):
        return number
    while number >= 0 and is_to_wait(w, number):
        mine = demand(w, number)
        mine.passing = True
        mine.cursor = lowest(w, number, spared_gpus(w, number))
        mine.open = mine.cursor >= 0
        if mine.open:
            mine.cursor_score = scores(w)[mine.cursor]
        turns.note_next_job(w, number)
        number = _next_demand(w, rules)
    score, job = math.inf, w.job_count
    if number >= 0:
        score, job = demand(w, number).cursor_score, waiting(w)[demand(w, number).cursor]
    for i in range(w.active_count):
        other = demand(w, i).active
        mine = demand(w, other)
        if mine.passing:
            mine.passing = False
            if number >= 0 and mine.tier < demand(w, number).tier:  # all of it stands before
                pass_over_before(w, other, math.inf, w.job_count)
            else:
                pass_over_before(w, other, score, job)
            seek(w, rules, other, mine.low)
            turns.note_next_job(w, other)
    return number


@inner
def is_to_wait(w: World, number: int) -> bool:
    """Whether the next job of a demand could start, but would leave too few GPUs free."""
    mine = demand(w, number)
    return mine.fits and takes_too_much(w, number, mine.cursor)


@inner
def _next_demand(w: World, rules: Rules) -> int:
    """The same, and whether it fits; only who is first is looked at.

    What starts only takes room: who stood first by an earlier look stands there or further behind.
    """
    while True:
        number = turns.first(w)
        if number < 0:
            return -1
        if w.limited and part_calls.at_limit(w, number) != 0:
            turns.set_aside(w, number)
        elif demand(w, number).behind != w.passes:
            _look_at(w, rules, number)
            return number
        elif _may_still_pass(w, rules, number):
            return number


@inner
def _look_at(w: World, rules: Rules, number: int) -> None:
    """Whether a demand fits that no reserved job stands before."""
    mine = demand(w, number)
    if stand_in_order(w, rules):
        mine.cursor, mine.latest_end, mine.open = mine.low, math.inf, True
        mine.cursor_score = scores(w)[mine.low]
    mine.fits = demand_fits(w, number, -math.inf)


@inner
def _may_still_pass(w: World, rules: Rules, number: int) -> bool:
    """Whether the next job of a demand may still start; if not, the demand stands elsewhere."""
    mine = demand(w, number)
    latest = latest_end(w, number, True)
    if latest == mine.latest_end:
        return True
    mine.latest_end, mine.fits = latest, latest > -math.inf
    mine.open = False
    if mine.fits:
        seek(w, rules, number, mine.cursor)
    turns.note_next_job(w, number)
    return False


@inner
def gather_passers(w: World, rules: Rules, reserved_kinds: int) -> None:
    """After a reservation: the demands that may pass, whose kinds meet the reserved ones.

    Demands that cannot start are not looked at, and may not reserve either.
    """
    longest = -math.inf
    for i in range(w.reservation_count):
        longest = max(longest, reservation(w, i).time - w.now + ROUNDING)
    for i in range(w.closures_begun, w.closure_count):
        longest = max(longest, closure(w, i).begin - w.now + ROUNDING)
    for i in range(w.chain_count):
        this = need_chain(w, i)
        if this.options > 0:
            least = need(w, next_need(w, this, 0))
            if count_nodes(w, least.shape, math.inf, least.nodes) >= least.nodes:
                _gather_met(w, rules, this, reserved_kinds)
            elif is_met(w, least):
                _gather_short(w, rules, this, longest, reserved_kinds)


@inner
def _gather_met(w: World, rules: Rules, this: NeedChain, reserved_kinds: int) -> None:
    number = next_need(w, this, 0)
    while number >= 0 and is_met(w, need(w, number)):
        _gather(w, rules, number, reserved_kinds)
        number = next_need(w, this, number - this.first + 1)


@inner
def _gather_short(
    w: World, rules: Rules, this: NeedChain, longest: float, reserved_kinds: int
) -> None:
    """Where no node is left for long jobs of the least need, none is for the others of its chain.

    Short jobs may start there. With 1,000 demands a hundred of them fit on a node kept for the
    reserved job, in every pass, and hardly any has a job that is short enough.
    """
    number = next_short_need(w, this, 0, longest)
    while number >= 0 and is_met(w, need(w, number)):
        _gather(w, rules, number, reserved_kinds)
        number = next_short_need(w, this, number - this.first + 1, longest)


@inner
def _gather(w: World, rules: Rules, number: int, reserved_kinds: int) -> None:
    """The demands with a need, if they may pass."""
    at = need(w, number).option
    while at >= 0:
        other = option(w, at).demand
        mine = demand(w, other)
        if mine.behind != w.passes and mine.kinds & reserved_kinds:
            let_pass(w, rules, other, mine.low)
        at = option(w, at).next


@inner
def let_pass(w: World, rules: Rules, number: int, begin: int) -> None:
    """Let the jobs of a demand from a place of its list on pass, as far as they may.

    How far is looked at in its turn: of fifty that fit, the first that start leave no room.
    """
    mine = demand(w, number)
    mine.behind = w.passes
    mine.fits = True
    if begin > mine.low or not _has_next_job(w, rules, number):
        mine.latest_end = math.inf
        seek(w, rules, number, begin)
    turns.note_next_job(w, number)


@inner
def _has_next_job(w: World, rules: Rules, number: int) -> bool:
    """Whether this pass knows the next job of a demand already, and that one may pass."""
    mine = demand(w, number)
    if stand_in_order(w, rules) or not mine.open or mine.latest_end < math.inf:
        return False
    return gates(w)[mine.cursor] >= 0.0 if rules.unsorted else mine.cursor == mine.low


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
