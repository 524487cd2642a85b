"""Failures, drains and reservations of nodes as events; a site without them never comes here."""

from __future__ import annotations

import math

from dovetail.compiled.functions import inner
from dovetail.simulator.kernel import closures, eligibility, events, limits, node_space
from dovetail.simulator.kernel.departure import leave_nodes
from dovetail.simulator.kernel.eligibility_rows import ENDED
from dovetail.simulator.kernel.placement import forget_picks
from dovetail.simulator.kernel.queue import add
from dovetail.simulator.kernel.revisions import next_revision
from dovetail.simulator.kernel.rows import World
from dovetail.simulator.kernel.rules import Rules
from dovetail.simulator.kernel.state import closure, job_facts, node, node_event, run_of, slot

FAIL, DRAIN, RESUME, RESERVE, RETURN = 0, 1, 2, 3, 4


@inner
def happen(w: World, rules: Rules, number: int) -> None:
    """One event of a node."""
    this = node_event(w, number)
    here = node(w, this.node)
    w.extended = True  # promises have to be made anew
    w.node_events_left -= 1
    if this.change == FAIL or this.change == DRAIN:
        here.outages += 1
    elif this.change == RESUME:
        here.outages -= 1
    elif this.change == RESERVE:
        here.reservations += 1
        here.reserved_until = max(here.reserved_until, this.until)
        _begin_closures(w)
    else:
        here.reservations -= 1
    if this.change == FAIL:
        while here.running > 0:
            _kill(w, rules, slot(w, this.node, 0).job)
    closures.settle(w, this.node)


@inner
def _begin_closures(w: World) -> None:
    """Reservations that have begun close their nodes: they need not be planned around any more."""
    before = w.closures_begun
    while w.closures_begun < w.closure_count and closure(w, w.closures_begun).begin <= w.now:
        w.closures_begun += 1
    if w.closures_begun > before:
        node_space.clear(w)


@inner
def _kill(w: World, rules: Rules, job: int) -> None:
    """A node has failed under a job: it begins again from the start, or that was its end."""
    mine = run_of(w, job)
    events.cancel(w, job)
    if next_revision(w, job) < mine.end:
        events.cancel(w, w.job_count + job)
    leave_nodes(w, job)
    if w.requeues:
        mine.restarts += 1
        mine.start = mine.end = math.nan
        mine.part_count = 0
        mine.backfilled = False
        forget_picks(w, job)
        job_facts(w, job).submit = w.now
        add(w, rules, mine.demand, job)
        return
    mine.end = w.now
    if w.limited:
        limits.count_submitted(w, mine.demand, -1)
    if w.linked:
        eligibility.note(w, job, ENDED)
