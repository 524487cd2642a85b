"""Conservative backfilling: every waiting job has a promise, which is kept or brought forward."""

from __future__ import annotations

import math
import sys

from dovetail.compiled.functions import inner
from dovetail.simulator.kernel import limits, part_calls, promises
from dovetail.simulator.kernel.heap import sort_by_score
from dovetail.simulator.kernel.pass_opening import see_what_fits, share_usage
from dovetail.simulator.kernel.passes import start
from dovetail.simulator.kernel.planned import find_nodes
from dovetail.simulator.kernel.queue import lowest, remove, rescore, takes_too_much
from dovetail.simulator.kernel.rows import World
from dovetail.simulator.kernel.rules import Rules, score_one
from dovetail.simulator.kernel.state import (
    demand,
    gathered,
    line,
    promise,
    run_of,
    scores,
    waiting,
)

ANY_TIME = sys.float_info.max


@inner
def conservative_pass(w: World, rules: Rules) -> None:
    """Bring promises forward if a job has ended, make those that are missing, start what is due."""
    if w.extended:
        promises.forget_all(w)
    _begin_pass(w, rules)
    w.promising, w.first_started = True, -1
    _go_through_promises(w, rules)
    _promise_to_others(w, rules)
    w.promising = w.ended = w.extended = False
    w.planned = w.submitted
    _mark_backfilled(w, rules)


@inner
def _begin_pass(w: World, rules: Rules) -> None:
    """Scores of this pass; who is passed over loses the promise."""
    if rules.half_life > 0.0:
        share_usage(w)
    if w.limited:
        _forget_limited(w)
    if not rules.unsorted:
        return
    see_what_fits(w)
    if rules.uses_state:
        part_calls.describe(w)
    rescore(w, rules)
    rows, values = waiting(w), scores(w)
    for i in range(w.active_count):
        mine = demand(w, demand(w, i).active)
        mine.latest_end = math.inf
        for at in range(mine.low, mine.high):
            if values[at] == math.inf:
                promises.release(w, rows[at])
                promises.forget(w, rows[at])


@inner
def _forget_limited(w: World) -> None:
    """Jobs at a limit lose their promises; `open` says for this pass which are not."""
    rows = waiting(w)
    for i in range(w.active_count):
        number = demand(w, i).active
        mine = demand(w, number)
        mine.open = not limits.at_limit(w, number)
        for at in range(mine.low, mine.high):
            if not mine.open and promise(w, rows[at]).time < promises.NO_PROMISE:
                promises.release(w, rows[at])
                promises.forget(w, rows[at])


@inner
def _is_at_limit(w: World, job: int) -> bool:
    """Whether a job is passed over, now that its turn has come; then it loses its promise."""
    if not limits.at_limit(w, run_of(w, job).demand):
        return False
    if promise(w, job).time < promises.NO_PROMISE:
        promises.release(w, job)
        promises.forget(w, job)
    return True


@inner
def _go_through_promises(w: World, rules: Rules) -> None:
    """Each job with a promise, once, in order: an earlier time if there is one; start if it is due.

    Where nothing has got room back since everybody was last looked at, nobody can move. A job
    that starts may leave room to others too, elsewhere than it was promised.
    """
    due = w.next_promise <= w.now
    moving = w.ended and (w.gains > w.settled or due)
    if not (moving or due):
        return
    if moving:
        w.looked_from, w.settled = w.settled, w.gains
    if _stand_in_line(w, rules):
        _go_along_line(w, rules, moving)
        return
    every, _, _, _ = gathered(w, w.job_count)
    for tier in range(w.tier_count):
        count = _gather(w, rules, -math.inf, ANY_TIME if moving else w.now, tier)
        for i in range(count):
            if w.limited and _is_at_limit(w, every[i]):
                continue
            if moving:
                promises.bring_forward(w, every[i])
            if promise(w, every[i]).time == w.now:
                _start(w, rules, every[i])


@inner
def _stand_in_line(w: World, rules: Rules) -> bool:
    """Whether the order of the jobs with promises is kept from pass to pass."""
    return not (rules.unsorted or rules.heads_only or w.limited or w.linked or w.eventful)


@inner
def _go_along_line(w: World, rules: Rules, moving: bool) -> None:
    """The same where the order is known: to sort all anew was a third of a pass."""
    jobs, count = line(w), 0
    for i in range(w.line_count):
        job = jobs[i]
        kept = promise(w, job)
        if moving and kept.time < promises.NO_PROMISE:
            promises.bring_forward(w, job)
        if kept.time == w.now:
            _start(w, rules, job)
        else:
            jobs[count] = job
            count += 1
    w.line_count = count


@inner
def _join_line(w: World, job: int) -> None:
    """A job that has got a promise stands where its score says."""
    jobs, at = line(w), w.line_count
    while at > 0 and _stands_before(w, job, jobs[at - 1]):
        jobs[at] = jobs[at - 1]
        at -= 1
    jobs[at] = job
    w.line_count += 1


@inner
def _stands_before(w: World, job: int, other: int) -> bool:
    tier, its_tier = demand(w, run_of(w, job).demand).tier, demand(w, run_of(w, other).demand).tier
    if tier != its_tier:
        return tier < its_tier
    score, its_score = promise(w, job).score, promise(w, other).score
    return score < its_score or (score == its_score and job < other)


@inner
def _promise_to_others(w: World, rules: Rules) -> None:
    """New jobs, and those that have lost their promises, in order."""
    every, _, _, _ = gathered(w, w.job_count)
    in_line = _stand_in_line(w, rules)
    if w.extended:
        w.line_count = 0
    for tier in range(w.tier_count):
        if w.extended or rules.unsorted or w.limited or w.linked or w.eventful:
            count = _gather(w, rules, promises.NO_PROMISE, promises.NO_PROMISE, tier)
        else:
            count = _gather_new(w, rules, tier)
        for i in range(count):
            if w.limited and _is_at_limit(w, every[i]):
                continue
            promises.make(w, every[i])
            if promise(w, every[i]).time == w.now:
                _start(w, rules, every[i])
            elif in_line:
                _join_line(w, every[i])


@inner
def _gather(w: World, rules: Rules, first: float, last: float, tier: int) -> int:
    """Waiting jobs of a tier with a promise from `first` to `last`, in order; how many."""
    rows, values = waiting(w), scores(w)
    every, order, _, _ = gathered(w, w.job_count)
    count = 0
    for i in range(w.active_count):
        mine = demand(w, demand(w, i).active)
        if mine.tier != tier or (w.limited and not mine.open):
            continue
        for at in range(mine.low, mine.high):
            job = rows[at]
            if first <= promise(w, job).time <= last and values[at] < math.inf:
                every[count] = job
                order[count] = score_one(w, rules, job) if rules.heads_only else values[at]
                promise(w, job).score = order[count]
                count += 1
    sort_by_score(order[:count], every[:count])
    return count


@inner
def _gather_new(w: World, rules: Rules, tier: int) -> int:
    """The jobs of a tier submitted since the last pass, in order; how many."""
    every, order, _, _ = gathered(w, w.job_count)
    count = 0
    for job in range(w.planned, w.submitted):
        number = run_of(w, job).demand
        if number >= 0 and demand(w, number).tier == tier:
            every[count], order[count] = job, score_one(w, rules, job)
            promise(w, job).score = order[count]
            count += 1
    sort_by_score(order[:count], every[:count])
    return count


@inner
def _start(w: World, rules: Rules, job: int) -> None:
    """Start a job whose time has come, where its placement likes it best beside all promises."""
    number = run_of(w, job).demand
    mine, rows = demand(w, number), waiting(w)
    at = mine.low
    while rows[at] != job:
        at += 1
    promises.release(w, job)
    if rules.unsorted and takes_too_much(w, number, at):
        promises.forget(w, job)
        scores(w)[at] = math.inf
        return
    chosen = find_nodes(w, rules, job)
    start(w, job, chosen)
    promises.note_start(w, job)
    remove(w, rules, number, at)
    promise(w, job).next_started = w.first_started
    w.first_started = job


@inner
def _mark_backfilled(w: World, rules: Rules) -> None:
    """Note which of the jobs started have passed one that still waits."""
    if w.first_started < 0:
        return
    for i in range(w.active_count):
        number = demand(w, i).active
        mine = demand(w, number)
        mine.cursor = lowest(w, number, math.inf) if rules.unsorted else mine.low
        if w.limited or w.eventful:
            mine.cursor = _first_promised(w, rules, number)
        if mine.cursor >= 0:
            first = waiting(w)[mine.cursor]
            known = scores(w)[mine.cursor]
            mine.cursor_score = score_one(w, rules, first) if rules.heads_only else known
    job = w.first_started
    while job >= 0:
        run_of(w, job).backfilled = _has_passed(w, job)
        job = promise(w, job).next_started


@inner
def _first_promised(w: World, rules: Rules, number: int) -> int:
    """The first job of a demand that was not passed over, as a position; -1: there is none."""
    mine, rows, values = demand(w, number), waiting(w), scores(w)
    best = -1
    for at in range(mine.low, mine.high):
        if promise(w, rows[at]).time == promises.NO_PROMISE:
            continue
        if not rules.unsorted:
            return at
        if (
            best < 0
            or values[at] < values[best]
            or (values[at] == values[best] and rows[at] < rows[best])
        ):
            best = at
    return best


@inner
def _has_passed(w: World, job: int) -> bool:
    score, kinds = promise(w, job).score, demand(w, run_of(w, job).demand).kinds
    tier = demand(w, run_of(w, job).demand).tier
    for i in range(w.active_count):
        mine = demand(w, demand(w, i).active)
        if mine.kinds & kinds and mine.cursor >= 0 and mine.tier <= tier:
            if mine.tier < tier or mine.cursor_score < score:
                return True
            if mine.cursor_score == score and waiting(w)[mine.cursor] < job:
                return True
    return False
