"""Promises of conservative backfilling: when waiting jobs are to start, and what that takes."""

from __future__ import annotations

import math

from dovetail.compiled.functions import inner
from dovetail.simulator.kernel import begin_times, claims, profile, rooms
from dovetail.simulator.kernel.begin_times import ANEW
from dovetail.simulator.kernel.demand_rows import Chunk
from dovetail.simulator.kernel.rows import World
from dovetail.simulator.kernel.state import (
    claim,
    claimants,
    closure,
    demand,
    job_facts,
    kind,
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
            claims.note_gain(w, number)


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
    claims.note_gain(w, node(w, number).node_set)


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
    seen = w.gains
    _promise_before(w, job, NO_PROMISE, ANEW)
    promise(w, job).seen = seen


@inner
def bring_forward(w: World, job: int) -> None:
    """Promise an earlier time if there is one now; else everything stays as it is."""
    kept = promise(w, job)
    if kept.seen == w.gains:
        return
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
    """Whether a set that has got room back might take a chunk of a job before its promise.

    Its own sets might. What a promise takes was given back and taken again for every job after
    every end: 22 million times for 10,000 jobs of RICC.
    """
    kept, mine = promise(w, job), demand(w, run_of(w, job).demand)
    if w.gains - kept.seen > claims.GAIN_LOG:
        return True
    at = kept.claim
    while at >= 0:
        claimants(w)[claim(w, at).node_set] = job
        at = claim(w, at).next
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
            w, number, estimate / option(w, number).speed, limit, seen
        )
        if begin < limit:
            best, limit = number, begin
    if best < 0:
        return False
    claims.drop_all(w, kept)
    kept.time, kept.end = limit, limit + estimate / option(w, best).speed
    if limit > w.now:
        claims.choose(w, kept, best)
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
