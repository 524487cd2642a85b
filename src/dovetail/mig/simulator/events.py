"""What happens by itself: jobs end, slots in the making come to exist, jobs arrive.

All events of one moment are taken in before anything is placed: first completions and then new
slots, both in order of GPU and slot, and then arrivals in order of submission.
"""

from __future__ import annotations

import math

from dovetail.compiled.functions import inner
from dovetail.mig.simulator.devices import (
    clear,
    fill,
    finish_making,
    refresh,
    settle,
    try_goal,
)
from dovetail.mig.simulator.history import forget, note, tell
from dovetail.mig.simulator.queue import enqueue
from dovetail.mig.simulator.rows import NOBODY, MigWorld, gpu, need, slot, task


@inner
def begin(w: MigWorld) -> None:
    """Set everything back to the first submission; cuts and addresses are in place."""
    w.origin = w.now = need(w, 0).release
    w.arrived = w.queued = w.finished = w.late = w.free = w.open_slots = 0
    w.repartitions = w.preemptions = w.events = w.choices = 0
    w.tardiness, w.waits, w.passed = 0.0, False, 0
    for job in range(w.job_count):
        mine = task(w, job)
        mine.start = mine.end = math.nan
        mine.gpu, mine.size, mine.offset, mine.left = NOBODY, 0, 0, 1.0
        mine.told = mine.thought = 1.0
    forget(w)
    for number in range(w.gpu_count):
        one = gpu(w, number)
        one.count, one.goal, one.ready, one.since = 0, NOBODY, math.inf, w.now
        one.energy = one.work = 0.0
        one.busy = one.free = 0
        fill(w, number, one.cut)
        refresh(w, number)


@inner
def next_time(w: MigWorld) -> float:
    """When something happens next; inf: never."""
    soonest = need(w, w.arrived).release if w.arrived < w.job_count else math.inf
    for number in range(w.gpu_count):
        soonest = min(soonest, gpu(w, number).next)
    return soonest


@inner
def go_on(w: MigWorld) -> bool:
    """Go to the next moment and take in all that happens then; False: nothing does any more."""
    now = next_time(w)
    if now == math.inf:
        return False
    w.now, w.waits, w.passed = now, False, 0
    for number in range(w.gpu_count):
        if gpu(w, number).next == now:
            _complete(w, number)
    for number in range(w.gpu_count):
        if gpu(w, number).ready == now:
            finish_making(w, number)
            refresh(w, number)
    while w.arrived < w.job_count and need(w, w.arrived).release == now:
        tell(w, w.arrived)
        enqueue(w, w.arrived)
        w.arrived += 1
        w.events += 1
    return True


@inner
def _complete(w: MigWorld, number: int) -> None:
    """End the jobs of a GPU that are due now."""
    one, ended = gpu(w, number), 0
    for row in range(one.first, one.first + one.count):
        here = slot(w, row)
        if here.until == w.now:
            mine = task(w, here.job)
            mine.end, mine.left = w.now, 0.0
            over = w.now - need(w, here.job).deadline
            if over > 0:
                w.late += 1
                w.tardiness += over
            note(w, here.job)
            clear(here)
            ended += 1
    w.finished += ended
    w.events += ended
    if ended > 0:
        try_goal(w, number)
        refresh(w, number)


@inner
def settle_all(w: MigWorld) -> None:
    """Book the energy of every GPU until now."""
    for number in range(w.gpu_count):
        settle(w, number)


@inner
def joules(w: MigWorld) -> float:
    """Energy until now, over all GPUs."""
    total = 0.0
    for number in range(w.gpu_count):
        settle(w, number)
        total += gpu(w, number).energy
    return total
