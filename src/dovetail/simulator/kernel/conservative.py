"""Conservative backfilling: every job that is blocked gets a reservation."""

from __future__ import annotations

import math

from dovetail.compiled.functions import inner
from dovetail.simulator.kernel import holds
from dovetail.simulator.kernel.passes import begin_pass, next_job, pass_over, start_next
from dovetail.simulator.kernel.placement import demand_fits
from dovetail.simulator.kernel.rows import World
from dovetail.simulator.kernel.rules import Rules
from dovetail.simulator.kernel.state import demand, job_facts, option, run_of, waiting


@inner
def conservative_pass(w: World, rules: Rules) -> None:
    """Start what can start without delaying any job before it; hold nodes for the others."""
    if begin_pass(w, rules) == 0:
        return
    held = 0
    number = next_job(w, rules)
    while number >= 0:
        kinds, job = demand(w, number).kinds, waiting(w)[demand(w, number).cursor]
        if start_next(w, rules, number):
            run_of(w, job).backfilled = kinds & held != 0
            if not _anything_fits(w):
                break
        else:
            _hold(w, job)
            held |= kinds
            pass_over(w, rules, number)
        number = next_job(w, rules)
    holds.clear(w)


@inner
def _anything_fits(w: World) -> bool:
    """Whether any waiting job may fit; held nodes count as free, which can only err to yes."""
    kept, w.hold_count = w.hold_count, 0
    found = False
    for i in range(w.active_count):
        found |= demand_fits(w, demand(w, i).active, -math.inf)
    w.hold_count = kept
    return found


@inner
def _hold(w: World, job: int) -> None:
    """Hold the nodes of the option in which the job can start the earliest."""
    estimate, mine = job_facts(w, job).estimate, demand(w, run_of(w, job).demand)
    best, best_begin = -1, math.inf
    for number in range(mine.option_first, mine.option_last):
        begin = holds.common_begin(w, number, estimate / option(w, number).speed)
        if begin < best_begin:
            best, best_begin = number, begin
    holds.hold_nodes(w, best, best_begin, estimate / option(w, best).speed)
