"""Promises of conservative backfilling: when waiting jobs are to start, and what that takes."""

from __future__ import annotations

import math

from dovetail.compiled.functions import inner
from dovetail.simulator.kernel import begin_times, claims, overlap, profile, rooms, set_search
from dovetail.simulator.kernel.begin_times import ANEW
from dovetail.simulator.kernel.demand_rows import Chunk
from dovetail.simulator.kernel.promise_rows import Promise
from dovetail.simulator.kernel.rows import World
from dovetail.simulator.kernel.state import (
    claim,
    closure,
    demand,
    gained_at,
    gains_by,
    job_facts,
    kind,
    large,
    node,
    node_set,
    option,
    part,
    promise,
    run_of,
    slot,
    waiting,
)

NO_PROMISE = math.inf


@inner
def forget_all(w: World) -> None:
    """Take every promise back: running jobs alone count, each up to its estimated end."""
    profile.clear(w)
    w.claims_used, w.free_claim, w.next_promise = 0, -1, NO_PROMISE
    for number in range(w.node_count):
        for at in range(node(w, number).running):
            own = slot(w, number, at)
            expected = run_of(w, own.job).expected
            claims.give(
                w, node(w, number).node_set, w.now, expected, -own.gpus, -own.cpus, -own.memory
            )
    if w.eventful:
        _keep_closed(w)
    rows = waiting(w)
    for i in range(w.active_count):
        mine = demand(w, demand(w, i).active)
        for at in range(mine.low, mine.high):
            promise(w, rows[at]).time, promise(w, rows[at]).claim = NO_PROMISE, -1


@inner
def _keep_closed(w: World) -> None:
    """Nodes that are closed, or will be, have nothing left for promises; each is its own set."""
    for number in range(w.node_count):
        if node(w, number).closed:
            _take_whole(w, number, w.now, node(w, number).reopens)
    for at in range(w.closures_begun, w.closure_count):
        _take_whole(w, closure(w, at).node, closure(w, at).begin, closure(w, at).end)


@inner
def _take_whole(w: World, number: int, begin: float, end: float) -> None:
    all_of_it = kind(w, node(w, number).kind)
    claims.give(
        w, node(w, number).node_set, begin, end,
        -all_of_it.gpus, -all_of_it.cpus, -all_of_it.memory,
    )  # fmt: skip


@inner
def note_start(w: World, job: int) -> None:
    """Count in a job that has just started."""
    mine = run_of(w, job)
    for at in range(mine.part_first, mine.part_first + mine.part_count):
        number = part(w, at).node
        own = slot(w, number, node(w, number).running - 1)
        claims.give(
            w, node(w, number).node_set, w.now, mine.expected, -own.gpus, -own.cpus, -own.memory
        )
    kept = promise(w, job)
    while kept.claim >= 0:
        claimed, had = claim(w, kept.claim), _held_on(w, job, claim(w, kept.claim).node_set)
        less = had[0] < claimed.gpus or had[1] < claimed.cpus
        number = claims.drop(w, kept)
        if less:
            claims.note_gain(w, number, kept.time, kept.end)


@inner
def _held_on(w: World, job: int, number: int) -> tuple[int, int]:
    """GPUs and CPUs of a node set that a job has which has just started."""
    mine, gpus, cpus = run_of(w, job), 0, 0
    for at in range(mine.part_first, mine.part_first + mine.part_count):
        here = node(w, part(w, at).node)
        if here.node_set == number:
            gpus += slot(w, part(w, at).node, here.running - 1).gpus
            cpus += slot(w, part(w, at).node, here.running - 1).cpus
    return gpus, cpus


@inner
def note_end(w: World, job: int, number: int) -> None:
    """Count out the chunk of a job that is about to leave a node."""
    w.ended = True
    expected = run_of(w, job).expected
    if w.extended or expected <= w.now:
        return
    at = 0
    while slot(w, number, at).job != job:
        at += 1
    own = slot(w, number, at)
    claims.give(w, node(w, number).node_set, w.now, expected, own.gpus, own.cpus, own.memory)
    claims.note_gain(w, node(w, number).node_set, w.now, expected)


@inner
def release(w: World, job: int) -> None:
    """Give back what a promise takes, before its job starts or forgets it."""
    claims.count(w, promise(w, job), 1)


@inner
def forget(w: World, job: int) -> None:
    """A job has no promise any more."""
    claims.drop_all(w, promise(w, job))
    promise(w, job).time = NO_PROMISE


@inner
def make(w: World, job: int) -> None:
    """Promise the earliest time possible; where that is now, the job has to start at once."""
    kept = promise(w, job)
    kept.seen, kept.after = w.gains, w.now
    kept.known = gains_by(w)[large(w, demand(w, run_of(w, job).demand).option_first).gpus]
    _promise_before(w, job, NO_PROMISE, ANEW)


@inner
def bring_forward(w: World, job: int) -> None:
    """Promise an earlier time if there is one now; else everything stays as it is."""
    kept = promise(w, job)
    if kept.seen == w.gains:
        return
    kept.after = w.now
    if not _may_gain(w, job):
        kept.seen = w.gains
        return
    claims.count(w, kept, 1)
    seen = w.gains
    if not _promise_before(w, job, kept.time, kept.seen):
        claims.count(w, kept, -1)
    kept.seen = seen


@inner
def _may_gain(w: World, job: int) -> bool:
    """Whether sets that have got room back might let a job begin before its promise.

    What a promise takes was given back and taken again for every job after every end: 22 million
    times for 10,000 jobs of RICC.
    """
    kept, mine = promise(w, job), demand(w, run_of(w, job).demand)
    if w.gains - kept.seen > claims.GAIN_LOG or kept.seen < w.looked_from:
        return True
    if kept.bound < 0 or not set_search.are_nodes(w):
        return _may_gain_in_any(w, job)
    this, chunk = option(w, mine.option_first), large(w, mine.option_first)
    gains = gains_by(w)[chunk.gpus]
    known, kept.known = kept.known, gains
    if gains == known:
        return False
    if kept.lacking > gains - known:  # one gain helps with one set at most
        kept.lacking -= gains - known
        return False
    length = job_facts(w, job).reserve / this.speed
    if not begin_times.gains_begin_before(
        w, kept.bound, mine.option_first, length, kept.time, kept.seen
    ) and not _own_gains_help(w, kept, chunk, length):
        return False
    if this.many == 1:
        return True
    kinds = this.large_kinds
    kept.lacking = set_search.count_lacking(w, kinds, chunk, length, this.many, kept)
    if kept.lacking <= 0:
        overlap.mark_own(w, kept, job)
        most = overlap.count_at_once(w, chunk, length, this.many, kept, job)
        kept.lacking = this.many - most
    return kept.lacking <= 0


@inner
def _own_gains_help(w: World, kept: Promise, chunk: Chunk, length: float) -> bool:
    """Whether a set that a job is to have has got room back, and could take its chunk earlier."""
    at = kept.claim
    while at >= 0:
        number = claim(w, at).node_set
        if gained_at(w)[number] >= kept.seen:
            if profile.begins_earlier(w, number, chunk, length, kept.time):
                return True
        at = claim(w, at).next
    return False


@inner
def _may_gain_in_any(w: World, job: int) -> bool:
    """The same for a job that may go several ways."""
    kept, mine = promise(w, job), demand(w, run_of(w, job).demand)
    overlap.mark_own(w, kept, job)
    for number in range(mine.option_first, mine.option_last):
        length = job_facts(w, job).reserve / option(w, number).speed
        if begin_times.gains_help(w, number, length, kept.time, kept.seen, job):
            return True
    return False


@inner
def _promise_before(w: World, job: int, limit: float, seen: int) -> bool:
    """Promise the earliest time, if it is before a limit, in the first option that has it."""
    kept, mine = promise(w, job), demand(w, run_of(w, job).demand)
    estimate, best = job_facts(w, job).reserve, -1
    for number in range(mine.option_first, mine.option_last):
        begin = begin_times.earliest_begin(
            w, number, estimate / option(w, number).speed, limit, seen, kept.after
        )
        if begin < limit:
            best, limit = number, begin
    if best < 0:
        return False
    claims.drop_all(w, kept)
    kept.lacking = 0
    kept.time, kept.end = limit, limit + estimate / option(w, best).speed
    if limit > w.now:
        claims.choose(w, kept, best, seen)
        claims.count(w, kept, -1)
        w.next_promise = min(w.next_promise, limit)
    return True


@inner
def earliest(w: World) -> float:
    """The earliest time that anybody is promised."""
    rows, soonest = waiting(w), NO_PROMISE
    for i in range(w.active_count):
        mine = demand(w, demand(w, i).active)
        for at in range(mine.low, mine.high):
            soonest = min(soonest, promise(w, rows[at]).time)
    return soonest


@inner
def leaves_room(w: World, number: int, chunk: Chunk, end: float) -> bool:
    """Whether a chunk on a node from now on leaves what is promised to others."""
    at = node(w, number).node_set
    chunks, _, _ = profile.look(w, at, chunk, w.now, end)
    return chunks > node_set(w, at).spent


@inner
def enough_room(w: World, kinds: int, chunk: Chunk, end: float, wanted: int) -> bool:
    """Whether so many chunks of a job may start now on nodes of some kinds."""
    found = 0
    for number in range(w.set_count):
        if rooms.begins_by(w, number, chunk.gpus, end - w.now) > w.now:
            continue
        if node_set(w, number).kinds & kinds:
            chunks, _, _ = profile.look(w, number, chunk, w.now, end)
            found += chunks
            if found >= wanted:
                return True
    return False
