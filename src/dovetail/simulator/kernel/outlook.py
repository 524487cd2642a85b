"""What a planning placement is shown: what is free, what will be, and which jobs come next."""

from __future__ import annotations

from typing import Any

from dovetail.compiled.functions import inner, kernel
from dovetail.domain.jobs import Floats, Ints
from dovetail.simulator.kernel.admission import admissible
from dovetail.simulator.kernel.allocation import fits
from dovetail.simulator.kernel.demand_rows import Chunk
from dovetail.simulator.kernel.rows import World
from dovetail.simulator.kernel.rules import Rules, score_one
from dovetail.simulator.kernel.state import (
    demand,
    job_facts,
    large,
    node,
    option,
    run_of,
    scores,
    slot,
    small,
    waiting,
)


@kernel
def next_jobs(world: Any, rules: Rules, job: int, rows: Ints, values: Floats) -> int:
    """The first waiting jobs in order, the one in hand left out, into `rows`; how many."""
    w = world[0]
    most, count = len(rows), 0
    for i in range(w.active_count):
        mine = demand(w, demand(w, i).active)
        if not mine.plannable:
            continue
        last = mine.high if rules.unsorted else min(mine.high, mine.low + most + 1)
        for at in range(mine.low, last):
            row = waiting(w)[at]
            if row == job:
                continue
            score = score_one(w, rules, row) if rules.heads_only else scores(w)[at]
            to = count
            while to > 0 and (
                score < values[to - 1] or (score == values[to - 1] and row < rows[to - 1])
            ):
                if to < most:
                    rows[to], values[to] = rows[to - 1], values[to - 1]
                to -= 1
            if to < most:
                rows[to], values[to] = row, score
                count = min(count + 1, most)
    return count


@kernel
def running_chunks(world: Any, end: Floats, where: Ints, amount: Ints) -> int:
    """What running jobs hold, chunk by chunk: believed end, node, amounts; how many."""
    w = world[0]
    count = 0
    for number in range(w.node_count):
        for i in range(node(w, number).running):
            own = slot(w, number, i)
            end[count], where[count] = run_of(w, own.job).expected, number
            amount[count, 0], amount[count, 1], amount[count, 2] = own.gpus, own.cpus, own.memory
            count += 1
    return count


@kernel
def room_for(world: Any, job: int, free: Ints) -> None:
    """What is free on every node, as far as it is not withheld from the job.

    Where a chunk fits, but a reservation forbids it, just too few GPUs count as free.
    """
    w = world[0]
    for number in range(w.node_count):
        here = node(w, number)
        free[number, 0], free[number, 1], free[number, 2] = here.gpus, here.cpus, here.memory
    mine = demand(w, run_of(w, job).demand)
    for at in range(mine.option_first, mine.option_last):
        this = option(w, at)
        end = w.now + job_facts(w, job).reserve / this.speed
        _withhold(w, free, this.large_kinds, large(w, at), end)
        if this.few > 0:
            _withhold(w, free, this.small_kinds, small(w, at), end)


@inner
def _withhold(w: World, free: Ints, kinds: int, chunk: Chunk, end: float) -> None:
    for number in range(w.node_count):
        here = node(w, number)
        if kinds >> here.kind & 1 and fits(here, chunk) and not admissible(w, number, chunk, end):
            free[number, 0] = min(free[number, 0], chunk.gpus - 1)
