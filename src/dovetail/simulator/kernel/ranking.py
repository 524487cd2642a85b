"""The order in which waiting jobs stand at this moment, and what a pass would start now."""

from __future__ import annotations

import math
from typing import Any

from dovetail.compiled.functions import kernel
from dovetail.domain.jobs import Bools, Floats, Ints
from dovetail.simulator.kernel import part_calls
from dovetail.simulator.kernel.admission import demand_fits
from dovetail.simulator.kernel.pass_opening import share_usage
from dovetail.simulator.kernel.passes import easy_pass
from dovetail.simulator.kernel.queue import remove
from dovetail.simulator.kernel.rules import WORST, Rules
from dovetail.simulator.kernel.state import (
    accounts,
    all_demand_facts,
    cluster,
    demand,
    jobs,
    waiting,
)


@kernel
def rank_waiting(
    world: Any, rules: Rules, rows: Ints, scores: Floats, gates: Floats, keeps: Floats
) -> int:
    """Score every waiting job as a pass would now, whether or not anything fits; how many.

    The outputs have room for every job of the trace; lower scores go first, ties to lower rows.
    """
    w = world[0]
    count = 0
    for i in range(w.active_count):
        number = demand(w, i).active
        mine = demand(w, number)
        mine.fits = demand_fits(w, number, -math.inf)
        for at in range(mine.low, mine.high):
            rows[count] = waiting(w)[at]
            gates[count] = keeps[count] = 0.0
            count += 1
    if rules.half_life > 0.0:
        share_usage(w)
    if rules.uses_state:
        part_calls.describe(w)
    rules.score(
        rules.parameters, jobs(w), accounts(w), all_demand_facts(w), cluster(w),
        rows[:count], scores[:count], gates[:count], keeps[:count],
    )  # fmt: skip
    for i in range(count):
        if not scores[i] < WORST:
            scores[i] = WORST
    return count


@kernel
def start_now(world: Any, rules: Rules, barred: Bools) -> None:
    """One pass at the present moment: jobs that may start do; those barred are as if not there."""
    w = world[0]
    for i in range(w.active_count - 1, -1, -1):  # one without jobs leaves its place to the last
        number = demand(w, i).active
        mine = demand(w, number)
        at = mine.low
        while at < mine.high:
            at = remove(w, rules, number, at) if barred[waiting(w)[at]] else at + 1
    if w.active_count > 0:
        easy_pass(w, rules)
