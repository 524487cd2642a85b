"""Waiting jobs, one list per demand: in order of score or of submission, or in none."""

from __future__ import annotations

import math

from dovetail.compiled.functions import inner
from dovetail.simulator.kernel import needs, turns
from dovetail.simulator.kernel.rows import World
from dovetail.simulator.kernel.rules import WORST, Rules, score_one
from dovetail.simulator.kernel.state import (
    accounts,
    all_demand_facts,
    cluster,
    demand,
    gates,
    gathered,
    gathered_gates,
    gathered_keeps,
    gathered_rows,
    gathered_scores,
    job_facts,
    jobs,
    keeps,
    kind,
    scores,
    waiting,
)


@inner
def add(w: World, rules: Rules, number: int, job: int) -> None:
    """Put a job on its demand's list: after the last score not above its own, or at the end."""
    mine, rows, values = demand(w, number), waiting(w), scores(w)
    if mine.low == mine.high:
        mine.active_at = w.active_count
        demand(w, w.active_count).active = number
        w.active_count += 1
        mine.shortest = math.inf
        needs.begin_waiting(w, number)
    if job_facts(w, job).reserve < mine.shortest:
        mine.shortest = job_facts(w, job).reserve
        needs.note_shorter(w, number)
    mine.queued_gpus += job_facts(w, job).gpus
    score, at = 0.0, mine.high
    if not (rules.unsorted or rules.heads_only):
        score = score_one(w, rules, job)
        at = position(w, mine.low, mine.high, score, job)
    # Shift the shorter side; removals from the front leave room there. At the end there is room
    # for jobs that come once only.
    if mine.low > mine.first and (w.eventful or at - mine.low < mine.high - at):
        for i in range(mine.low, at):
            rows[i - 1], values[i - 1] = rows[i], values[i]
        mine.low -= 1
        at -= 1
    else:
        for i in range(mine.high, at, -1):
            rows[i], values[i] = rows[i - 1], values[i - 1]
        mine.high += 1
    rows[at], values[at] = job, score
    if at == mine.low and not (rules.unsorted or rules.heads_only):
        turns.note_first_job(w, number)


@inner
def position(w: World, low: int, high: int, score: float, job: int) -> int:
    """Where (score, job) belongs: one that has waited for others has a lower row than some."""
    rows, values = waiting(w), scores(w)
    while low < high:
        middle = (low + high) >> 1
        if values[middle] < score or (values[middle] == score and rows[middle] < job):
            low = middle + 1
        else:
            high = middle
    return low


@inner
def remove(w: World, rules: Rules, number: int, at: int) -> int:
    """Take the job at a position off its list; returns where the one after it is now."""
    mine, rows, values = demand(w, number), waiting(w), scores(w)
    after, was_first = at, at == mine.low
    mine.queued_gpus -= job_facts(w, rows[at]).gpus
    if rules.unsorted:
        rows[at], values[at] = rows[mine.high - 1], values[mine.high - 1]
        gates(w)[at], keeps(w)[at] = gates(w)[mine.high - 1], keeps(w)[mine.high - 1]
        mine.high -= 1
    elif at - mine.low <= mine.high - at:
        for i in range(at, mine.low, -1):
            rows[i], values[i] = rows[i - 1], values[i - 1]
        mine.low += 1
        after = at + 1
    else:
        for i in range(at + 1, mine.high):
            rows[i - 1], values[i - 1] = rows[i], values[i]
        mine.high -= 1
    if mine.low == mine.high:
        _deactivate(w, number)
    if was_first and not (rules.unsorted or rules.heads_only):
        turns.note_first_job(w, number)
    return after


@inner
def _deactivate(w: World, number: int) -> None:
    mine = demand(w, number)
    w.active_count -= 1
    moved = demand(w, w.active_count).active
    demand(w, mine.active_at).active = moved
    demand(w, moved).active_at = mine.active_at
    mine.active_at = -1
    mine.low = mine.high = mine.first
    mine.open = mine.fits = False
    needs.end_waiting(w, number)


@inner
def rescore(w: World, rules: Rules) -> None:
    """Fresh scores for every waiting job, in one call: lists are many and mostly short."""
    rows, values, gate, keep = waiting(w), scores(w), gates(w), keeps(w)
    every, new_scores = gathered_rows(w), gathered_scores(w)
    new_gates, new_keeps = gathered_gates(w), gathered_keeps(w)
    count = 0
    for i in range(w.active_count):
        mine = demand(w, demand(w, i).active)
        for at in range(mine.low, mine.high):
            every[count] = rows[at]
            new_gates[count] = new_keeps[count] = 0.0
            count += 1
    rules.score(
        rules.parameters, jobs(w), accounts(w), all_demand_facts(w), cluster(w),
        *gathered(w, count),
    )  # fmt: skip
    count = 0
    for i in range(w.active_count):
        mine, spared = demand(w, demand(w, i).active), spared_gpus(w, demand(w, i).active)
        for at in range(mine.low, mine.high):
            values[at] = new_scores[count] if new_scores[count] < WORST else WORST
            gate[at], keep[at] = new_gates[count], new_keeps[count]
            if mine.fits and keep[at] > spared:
                values[at] = math.inf
            count += 1


@inner
def seek(w: World, rules: Rules, number: int, begin: int) -> None:
    """Set the cursor to the demand's first job in order that ends by its latest end.

    Looks from `begin` on. If there is none, the demand is closed for this pass. A search of the
    whole list that finds nothing learns the shortest estimate, which spares the next search.
    """
    mine, rows = demand(w, number), waiting(w)
    best = -1
    if w.now + mine.shortest / mine.speed <= mine.latest_end:
        if rules.unsorted:
            best = lowest(w, number, math.inf)
        else:
            at = begin  # where any end will do, jobs need not be fetched from memory
            while (
                mine.latest_end < math.inf
                and at < mine.high
                and not ends_in_time(w, rows[at], mine.speed, mine.latest_end)
            ):
                at += 1
            best = at if at < mine.high else -1
        if best < 0 and (rules.unsorted or begin == mine.low):
            shortest = math.inf
            for at in range(mine.low, mine.high):
                shortest = min(shortest, job_facts(w, rows[at]).reserve)
            mine.shortest = shortest
    mine.cursor = best
    mine.open = best >= 0
    if mine.open and not rules.heads_only:
        mine.cursor_score = scores(w)[best]
    elif mine.open and w.active_count > 1:  # else nobody compares
        mine.cursor_score = score_one(w, rules, rows[best])


@inner
def shortest_left(w: World, rules: Rules, number: int, most: int) -> float:
    """The lowest estimate among the jobs of a demand that this pass has not passed over.

    Only so many of the next are looked at.
    """
    mine, rows, values, shortest = demand(w, number), waiting(w), scores(w), math.inf
    begin = mine.low if rules.unsorted else mine.cursor
    for at in range(begin, min(mine.high, begin + most)):
        if not rules.unsorted or values[at] < math.inf:
            shortest = min(shortest, job_facts(w, rows[at]).reserve)
    return shortest


@inner
def ends_in_time(w: World, job: int, speed: float, latest_end: float) -> bool:
    """Whether a job started now would end by then, by estimate, at this speed."""
    return w.now + job_facts(w, job).reserve / speed <= latest_end


@inner
def spared_gpus(w: World, number: int) -> float:
    """GPUs that a job of this demand, started now, would leave free: who is to leave more waits.

    Where everything is idle nobody does: a job that may not even start there never would.
    """
    mine, free, whole = demand(w, number), 0, 0
    gpus = job_facts(w, waiting(w)[mine.low]).gpus
    for i in range(w.kind_count):
        if mine.kinds >> i & 1:
            free += kind(w, i).free
            whole += kind(w, i).gpus * (kind(w, i).last - kind(w, i).first) - kind(w, i).closed
    if free == whole or gpus == 0:
        return math.inf
    return max(0.0, float(free - gpus))


@inner
def takes_too_much(w: World, number: int, at: int) -> bool:
    """Whether a job, started now, would leave fewer GPUs free than it is to leave."""
    return keeps(w)[at] > 0.0 and keeps(w)[at] > spared_gpus(w, number)


@inner
def pass_over_before(w: World, number: int, score: float, job: int) -> None:
    """Pass over all jobs of a demand before (score, job) that take too much."""
    mine, rows, values, keep = demand(w, number), waiting(w), scores(w), keeps(w)
    spared = spared_gpus(w, number)
    for at in range(mine.low, mine.high):
        if keep[at] > spared and (values[at] < score or (values[at] == score and rows[at] < job)):
            values[at] = math.inf


@inner
def lowest(w: World, number: int, spared: float) -> int:
    """Position of the lowest (score, job) that ends in time; jobs passed over score inf.

    Only jobs that are to leave no more GPUs free than `spared`.
    """
    mine, rows, values, gate = demand(w, number), waiting(w), scores(w), gates(w)
    keep = keeps(w)
    best, best_score = -1, math.inf
    latest_end = mine.latest_end
    for at in range(mine.low, mine.high):
        score = values[at]
        if score > best_score or (score == best_score and best >= 0 and rows[at] > rows[best]):
            continue
        if score == math.inf:
            continue
        if latest_end < math.inf and not ends_in_time(w, rows[at], mine.speed, latest_end):
            continue
        if (mine.behind == w.passes and gate[at] < 0.0) or keep[at] > spared:
            continue
        best, best_score = at, score
    return best
