"""Which job is to be placed next, on which slices it could go, and putting it there."""

from __future__ import annotations

import math

from dovetail.compiled.functions import inner
from dovetail.compiled.tables import Word
from dovetail.mig.policy import MomentFacts, SliceFacts
from dovetail.mig.simulator.devices import clear, refresh
from dovetail.mig.simulator.history import believe, expected_end, interrupt, rest, start
from dovetail.mig.simulator.queue import dequeue, due_by, enqueue
from dovetail.mig.simulator.rows import (
    NOBODY,
    MigWorld,
    SlotRow,
    cut,
    gpu,
    kind,
    moment_facts,
    need,
    power,
    queue,
    slice_facts,
    slot,
    task,
    time_on,
    told_on,
)


@inner
def seek(w: MigWorld) -> bool:
    """Find the next job to place, and the slices that it could take; False: there is none.

    It is the waiting job with the earliest deadline; one that fits no free slice is passed over,
    or takes the slice of a running job if preemption allows it. Jobs that the placement has
    passed over since the last event are not looked at.
    """
    w.choices = 0
    if w.waits:
        return False
    if w.free == 0 and not w.preempts:
        return False
    line = queue(w)
    for place in range(w.queued - 1 - w.passed, -1, -1):
        job = line[place]
        if w.free > 0:
            gather(w, job)
        if w.choices == 0 and w.preempts and _evict(w, job):
            place = _place_of(w, job)
            gather(w, job)
        if w.choices > 0:
            w.head = place
            return True
    return False


@inner
def fits(w: MigWorld, job: int, here: SlotRow) -> bool:
    """Enough memory, and the job can run on slices of that size."""
    enough = here.memory >= need(w, job).memory
    return enough and time_on(w, job, gpu(w, here.gpu).kind, here.size) < math.inf


@inner
def gather(w: MigWorld, job: int) -> None:
    """List the free slices that the job fits."""
    w.choices = 0
    for number in range(w.gpu_count):
        one = gpu(w, number)
        if one.free > 0:
            for row in range(one.first, one.first + one.count):
                here = slot(w, row)
                if here.open and here.job == NOBODY and fits(w, job, here):
                    found = slice_facts(w, w.choices)
                    found.slot, found.gpu, found.size = row, number, here.size
                    w.choices += 1


@inner
def describe(w: MigWorld) -> None:
    """Write what a policy may know of the choice at hand."""
    job = queue(w)[w.head]
    due = need(w, job).deadline
    now = moment_facts(w, 0)
    now.now, now.left, now.category = w.now, due - w.now, need(w, job).category
    now.queued, now.overdue = w.queued, due_by(w, w.now)
    now.free, now.slots = w.free, w.open_slots
    now.shortest = math.inf
    for number in range(w.kind_count):
        now.shortest = min(now.shortest, told_on(w, job, number, kind(w, number).slices))
    now.likely, now.spread = believe(w, job)
    now.busy = now.compute = 0
    for number in range(w.gpu_count):
        now.busy += gpu(w, number).busy
        now.compute += kind(w, gpu(w, number).kind).slices
    _describe_soon(w, job, now)
    for choice in range(w.choices):
        _describe_slice(w, job, slice_facts(w, choice))


@inner
def _describe_soon(w: MigWorld, job: int, now: MomentFacts) -> None:
    """Of each size, the busy slice that will be free first."""
    now.soon1 = now.soon2 = now.soon3 = now.soon4 = now.soon7 = math.inf
    now.then1 = now.then2 = now.then3 = now.then4 = now.then7 = math.inf
    now.rest1 = now.rest2 = now.rest3 = now.rest4 = now.rest7 = math.inf
    for number in range(w.gpu_count):
        one = gpu(w, number)
        if one.busy > 0 and one.goal == NOBODY:
            for row in range(one.first, one.first + one.count):
                here = slot(w, row)
                if here.job != NOBODY and fits(w, job, here):
                    _note_soon(w, job, here, now)


@inner
def _note_soon(w: MigWorld, job: int, here: SlotRow, now: MomentFacts) -> None:
    soon = expected_end(w, here) - w.now
    then = told_on(w, job, gpu(w, here.gpu).kind, here.size) * task(w, job).thought
    _note_rest(here.size, rest(w, here), now)
    if here.size == 1 and soon < now.soon1:
        now.soon1, now.then1 = soon, then
    elif here.size == 2 and soon < now.soon2:
        now.soon2, now.then2 = soon, then
    elif here.size == 3 and soon < now.soon3:
        now.soon3, now.then3 = soon, then
    elif here.size == 4 and soon < now.soon4:
        now.soon4, now.then4 = soon, then
    elif here.size == 7 and soon < now.soon7:
        now.soon7, now.then7 = soon, then


@inner
def _note_rest(size: int, seconds: float, now: MomentFacts) -> None:
    if size == 1:
        now.rest1 = min(now.rest1, seconds)
    elif size == 2:
        now.rest2 = min(now.rest2, seconds)
    elif size == 3:
        now.rest3 = min(now.rest3, seconds)
    elif size == 4:
        now.rest4 = min(now.rest4, seconds)
    elif size == 7:
        now.rest7 = min(now.rest7, seconds)


@inner
def _describe_slice(w: MigWorld, job: int, found: SliceFacts) -> None:
    one = gpu(w, found.gpu)
    found.slices = kind(w, one.kind).slices
    found.duration = told_on(w, job, one.kind, found.size) * task(w, job).thought
    found.lateness = w.now + found.duration - need(w, job).deadline
    found.energy = extra_energy(w, found.gpu, found.size, found.duration)
    found.packed = one.busy / found.slices
    found.mean_size = cut(w, one.cut).mean_size
    found.chance = chance(w)


@inner
def extra_energy(w: MigWorld, number: int, size: int, duration: float) -> float:
    """Joules that a job adds to a GPU on which nothing else is placed meanwhile."""
    one = gpu(w, number)
    total, at, busy, end = 0.0, w.now, one.busy, w.now + duration
    while at < end:
        change, leaving = end, 0
        for row in range(one.first, one.first + one.count):
            until = expected_end(w, slot(w, row))
            if at < until < change:
                change, leaving = until, 0
            if until == change:
                leaving += slot(w, row).size
        step = power(w, one.kind, busy + size) - power(w, one.kind, busy)
        total += step * (change - at)
        at = change
        busy -= leaving
    return total


@inner
def chance(w: MigWorld) -> float:
    """The next random number in [0, 1): SplitMix64, whose state is one word."""
    w.chance += Word(0x9E3779B97F4A7C15)
    word = w.chance
    word = (word ^ (word >> Word(30))) * Word(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> Word(27))) * Word(0x94D049BB133111EB)
    word ^= word >> Word(31)
    return float(word >> Word(11)) * (1.0 / 9007199254740992.0)


@inner
def put(w: MigWorld, row: int) -> None:
    """Start the job at hand on this slot."""
    job = dequeue(w, w.head)
    here, mine = slot(w, row), task(w, job)
    whole = time_on(w, job, gpu(w, here.gpu).kind, here.size)
    here.job, here.begun, here.until = job, w.now, w.now + whole * mine.left
    start(w, job, told_on(w, job, gpu(w, here.gpu).kind, here.size))
    if math.isnan(mine.start):
        mine.start = w.now
    mine.gpu, mine.size, mine.offset = here.gpu, here.size, here.offset
    w.choices = 0
    refresh(w, here.gpu)


@inner
def _evict(w: MigWorld, job: int) -> bool:
    """Send back the running job that is due last, if it is due later than this one."""
    victim, last = NOBODY, need(w, job).deadline
    for number in range(w.gpu_count):
        one = gpu(w, number)
        if one.goal == NOBODY:
            for row in range(one.first, one.first + one.count):
                here = slot(w, row)
                if here.job != NOBODY and fits(w, job, here):
                    if need(w, here.job).deadline > last:
                        victim, last = row, need(w, here.job).deadline
    if victim == NOBODY:
        return False
    here = slot(w, victim)
    mine = task(w, here.job)
    whole = time_on(w, here.job, gpu(w, here.gpu).kind, here.size)
    mine.left = max(0.0, mine.left - (w.now - here.begun) / whole)
    interrupt(w, here, told_on(w, here.job, gpu(w, here.gpu).kind, here.size))
    enqueue(w, here.job)
    clear(here)
    w.preemptions += 1
    refresh(w, here.gpu)
    return True


@inner
def _place_of(w: MigWorld, job: int) -> int:
    line, place = queue(w), w.queued - 1
    while line[place] != job:
        place -= 1
    return place
