"""Conservative backfilling: every job that is blocked gets a reservation."""

from __future__ import annotations

import math

import numpy as np

from dovetail.domain.compiled import kernel
from dovetail.domain.jobs import Ints
from dovetail.simulator import holds
from dovetail.simulator.passes import Rules, begin_pass, start
from dovetail.simulator.placing import demand_fits, place
from dovetail.simulator.queue import remove
from dovetail.simulator.state import World, demand, job_facts, option, run_of, scores, waiting


@kernel
def conservative_pass(w: World, rules: Rules) -> None:
    """Start what can start without delaying any job before it; hold nodes for the others."""
    if begin_pass(w, rules) == 0:
        return
    held = 0
    order = _in_order(w)
    for i in range(len(order)):
        job = order[i]
        number = run_of(w, job).demand
        chosen = place(w, rules.prefer, rules.few_switches, job)
        if chosen < 0:
            _hold(w, job)
            held |= demand(w, number).kinds
            continue
        start(w, job, chosen)
        run_of(w, job).backfilled = demand(w, number).kinds & held != 0
        at = demand(w, number).low
        while waiting(w)[at] != job:
            at += 1
        remove(w, number, at, rules.varies)
        if not _anything_fits(w):
            break
    holds.clear(w)


@kernel
def _anything_fits(w: World) -> bool:
    """Whether any waiting job may fit; held nodes count as free, which can only err to yes."""
    kept, w.hold_count = w.hold_count, 0
    found = False
    for i in range(w.active_count):
        found |= demand_fits(w, demand(w, i).active, -math.inf)
    w.hold_count = kept
    return found


@kernel
def _in_order(w: World) -> Ints:
    """All waiting jobs by (score, row)."""
    count = 0
    for i in range(w.active_count):
        mine = demand(w, demand(w, i).active)
        count += mine.high - mine.low
    rows, values = np.empty(count, np.int64), np.empty(count)
    count = 0
    for i in range(w.active_count):
        mine = demand(w, demand(w, i).active)
        for at in range(mine.low, mine.high):
            rows[count], values[count] = waiting(w)[at], scores(w)[at]
            count += 1
    by_row = np.argsort(rows)
    by_score = np.argsort(values[by_row], kind="mergesort")  # stable: ties stay by row
    ordered: Ints = rows[by_row][by_score]
    return ordered


@kernel
def _hold(w: World, job: int) -> None:
    """Hold the nodes of the option in which the job can start the earliest."""
    estimate, mine = job_facts(w, job).estimate, demand(w, run_of(w, job).demand)
    best, best_begin = -1, math.inf
    for number in range(mine.option_first, mine.option_last):
        begin = holds.common_begin(w, number, estimate / option(w, number).speed)
        if begin < best_begin:
            best, best_begin = number, begin
    holds.hold_nodes(w, best, best_begin, estimate / option(w, best).speed)
