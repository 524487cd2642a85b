"""Which waiting jobs a decision shows: all candidates, or the oldest, the newest and the best.

Rows are shown in the base policy's order, so that action 0 is always what the base would do.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dovetail.compiled.functions import inner
from dovetail.domain.jobs import Floats, Ints
from dovetail.simulator.kernel.heap import sift
from dovetail.simulator.kernel.rows import World
from dovetail.simulator.kernel.state import demand, gathered, scores, waiting
from dovetail.simulator.kernel.steps import is_candidate

SHOWN = 256
"""Jobs that a decision shows at most."""

ENDS = 64
"""Of a longer queue, so many of the oldest and of the newest; the rest are the best-ranked.

With the best-ranked alone, an old large job that the base ranks last would never be seen.
"""

QUEUED, KEPT = 1.0, 2.0
"""Marks of a candidate, and of one of the oldest or newest."""


class Scratch(NamedTuple):
    """Room for all jobs of a window; worlds that are stepped one after the other share it.

    Memory that is still near: with one for each of 512 worlds it never was.
    """

    rows: Ints  # [jobs]
    keys: Floats
    marks: Floats


def scratch_for(jobs: int) -> Scratch:
    return Scratch(np.zeros(jobs, np.int64), np.zeros(jobs), np.zeros(jobs))


@inner
def own_scratch(w: World) -> Scratch:
    """That of one world: what `rescore` uses, which a pass has done with."""
    rows, keys, marks, _ = gathered(w, w.job_count)
    return Scratch(rows, keys, marks)


@inner
def show(w: World, scratch: Scratch, out: Ints) -> int:
    """Write the rows of the jobs to be shown, best first in the base order; returns how many."""
    rows, keys, marks = scratch
    count = _gather(w, rows, keys)
    best_left = SHOWN
    if count > SHOWN:
        _mark_ends(rows[:count], marks)
        best_left = SHOWN - 2 * ENDS
    for at in range((count >> 1) - 1, -1, -1):
        sift(rows, keys, at, count)
    shown, left = 0, count
    while left > 0 and shown < SHOWN:
        job = rows[0]
        left -= 1
        rows[0], keys[0] = rows[left], keys[left]
        sift(rows, keys, 0, left)
        if count > SHOWN and marks[job] < KEPT:
            if best_left == 0:
                continue
            best_left -= 1
        out[shown] = job
        shown += 1
    return shown


@inner
def _gather(w: World, rows: Ints, keys: Floats) -> int:
    """All candidates with their scores in the base order."""
    queue, values = waiting(w), scores(w)
    count = 0
    for i in range(w.active_count):
        number = demand(w, i).active
        mine = demand(w, number)
        if mine.open:
            for at in range(mine.low, mine.high):
                if is_candidate(w, number, queue[at]):
                    rows[count], keys[count] = queue[at], values[at]
                    count += 1
    return count


@inner
def _mark_ends(rows: Ints, marks: Floats) -> None:
    """Rows are in order of submission: mark the lowest and the highest of them as kept."""
    marks[:] = 0.0
    for job in rows:
        marks[job] = QUEUED
    left, job = ENDS, 0
    while left > 0:
        if marks[job] == QUEUED:
            marks[job] = KEPT
            left -= 1
        job += 1
    left, job = ENDS, len(marks) - 1
    while left > 0:
        if marks[job] == QUEUED:
            marks[job] = KEPT
            left -= 1
        job -= 1
