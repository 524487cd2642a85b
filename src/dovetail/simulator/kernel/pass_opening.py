"""The beginning of a pass: what fits, the scores, and where every demand stands."""

from __future__ import annotations

import math

from dovetail.compiled.functions import inner
from dovetail.simulator.kernel import part_calls, turns
from dovetail.simulator.kernel.admission import demand_fits
from dovetail.simulator.kernel.needs import anything_may_fit
from dovetail.simulator.kernel.queue import rescore, seek
from dovetail.simulator.kernel.rows import World
from dovetail.simulator.kernel.rules import Rules
from dovetail.simulator.kernel.state import account, demand


@inner
def begin_ordered_pass(w: World, rules: Rules) -> bool:
    """Let demands stand in the order of their next jobs; False: nothing fits, the pass is over.

    Where lists are in order of score they stand so already.
    """
    if not anything_may_fit(w):
        return False
    if stand_in_order(w, rules):
        w.passes += 1
        return True
    if rules.unsorted and see_what_fits(w) == 0:  # where lists have an order, no score asks
        return False
    _look_for_next_jobs(w, rules)
    turns.line_up_or_scan(w)
    return True


@inner
def stand_in_order(w: World, rules: Rules) -> bool:
    """Whether demands stand in order from pass to pass, each with the first job of its list.

    Where a placement lets jobs wait, a pass goes on to others of the same list.
    """
    return not (rules.unsorted or rules.heads_only) and w.assigner == 0


@inner
def begin_pass(w: World, rules: Rules) -> int:
    """See which demands fit at all; returns how many. If none does, the pass is over.

    Only if something fits are jobs scored: most passes with a deep queue end right here.
    """
    fitting = see_what_fits(w)
    if fitting > 0:
        _look_for_next_jobs(w, rules)
    return fitting


@inner
def _look_for_next_jobs(w: World, rules: Rules) -> None:
    """Score jobs, and set the cursor of every demand."""
    w.passes += 1
    if rules.half_life > 0.0 and (rules.unsorted or w.active_count > 1):  # else nobody compares
        share_usage(w)
    if rules.uses_state:
        part_calls.describe(w)
    if rules.unsorted:
        rescore(w, rules)
    for i in range(w.active_count):
        number = demand(w, i).active
        demand(w, number).latest_end = math.inf
        seek(w, rules, number, demand(w, number).low)
    if w.limited:
        part_calls.close_limited(w)


@inner
def see_what_fits(w: World) -> int:
    """Note of every demand whether it fits now; returns how many do."""
    fitting = 0
    for i in range(w.active_count):
        mine = demand(w, demand(w, i).active)
        mine.fits = demand_fits(w, demand(w, i).active, -math.inf)
        if w.limited and mine.fits:
            mine.fits = part_calls.at_limit(w, demand(w, i).active) == 0
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
