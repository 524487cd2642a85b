"""Which waiting jobs a decision shows: all candidates, or the oldest, the newest and the best.

Rows are shown in the base policy's order, so that action 0 is always what the base would do.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import carray, types

from dovetail.compiled.functions import inner
from dovetail.compiled.native import native_type
from dovetail.compiled.tables import Word, column_address
from dovetail.domain.jobs import Floats, Ints
from dovetail.simulator.kernel.bits import trailing_zeros
from dovetail.simulator.kernel.rows import World
from dovetail.simulator.kernel.state import demand, gathered, scores, waiting
from dovetail.simulator.kernel.steps import is_candidate

SHOWN = 256
"""Jobs that a decision shows at most."""

ENDS = 64
"""Of a longer queue, so many of the oldest and of the newest; the rest are the best-ranked.

With the best-ranked alone, an old large job that the base ranks last would never be seen.
"""


BYTES_TO_BITS = Word(0x0102040810204080)
"""A word with 0 or 1 in each byte, times this, has these eight bits on top."""


class Scratch(NamedTuple):
    """Room for all jobs of a window; worlds that are stepped one after the other share it.

    Memory that is still near: with one for each of 512 worlds it never was.
    """

    rows: Ints  # [jobs]
    keys: Floats
    other_rows: Ints
    other_keys: Floats
    marks: Any  # uint8 [8 * jobs] the memory of other_rows: a byte for each job


SCRATCH = native_type(Scratch, marks=types.uint8[::1])


def scratch_for(jobs: int) -> Scratch:
    rows, keys = np.zeros((2, jobs), np.int64), np.zeros((2, jobs))
    return Scratch(rows[0], keys[0], rows[1], keys[1], rows[1].view(np.uint8))


_other_rows = column_address(World, "gathered_gates", types.int64)
_marks = column_address(World, "gathered_gates", types.uint8)


@inner
def own_scratch(w: World) -> Scratch:
    """That of one world: what `rescore` uses, which a pass has done with."""
    rows, keys, _, other_keys = gathered(w, w.job_count)
    other_rows = carray(_other_rows(w), (w.job_count,))
    return Scratch(rows, keys, other_rows, other_keys, carray(_marks(w), (8 * w.job_count,)))


@inner
def show(w: World, scratch: Scratch, out: Ints) -> int:
    """Write the rows of the jobs to be shown, best first in the base order; returns how many."""
    rows, keys = scratch.rows, scratch.keys
    _mark(w, scratch)
    count, in_order = _gather(w, keys, rows, scratch.other_rows)
    old, new = rows[0], rows[0]
    if count > SHOWN:
        old, new = rows[ENDS - 1], rows[count - ENDS]
    if not in_order:
        sort_stably(rows, keys, scratch.other_rows, scratch.other_keys, count)
    if count <= SHOWN:
        for i in range(count):
            out[i] = rows[i]
        return count
    shown, best_left = 0, SHOWN - 2 * ENDS
    for i in range(count):
        if old < rows[i] < new:
            if best_left == 0:
                continue
            best_left -= 1
        out[shown] = rows[i]
        shown += 1
    return shown


@inner
def _mark(w: World, scratch: Scratch) -> None:
    """Mark all candidates, and note their scores in the base order.

    A byte for each, as a bit set beside the one before waits for that: 0.4 µs of 3.3 for 70 jobs.
    """
    queue, values = waiting(w), scores(w)
    keys, words, marks = scratch.keys, scratch.other_rows, scratch.marks
    for i in range((w.submitted + 7) >> 3):
        words[i] = 0
    for i in range(w.active_count):
        number = demand(w, i).active
        mine = demand(w, number)
        if not mine.open:
            continue
        if mine.latest_end == math.inf:  # then no facts of jobs are looked at
            for at in range(mine.low, mine.high):
                marks[queue[at]] = 1
                keys[queue[at]] = values[at]
        else:
            for at in range(mine.low, mine.high):
                job = queue[at]
                marks[job] = is_candidate(w, number, job)
                keys[job] = values[at]


@inner
def _gather(w: World, keys: Floats, rows: Ints, words: Ints) -> tuple[int, bool]:
    """Write marked jobs in the order of their rows; whether that is the order of their scores.

    It is wherever who came first goes first. Sorting as many by a heap took 6 µs of 18.
    """
    count, last, in_order = 0, -math.inf, True
    end = (w.submitted + 7) >> 3
    for i in range(0, end, 8):
        bits = Word(0)
        for k in range(min(8, end - i)):
            bits |= (Word(words[i + k]) * BYTES_TO_BITS) >> Word(56) << Word(8 * k)
        while bits != Word(0):
            job = 8 * i + int(trailing_zeros(bits))
            bits &= bits - Word(1)
            in_order &= last <= keys[job]
            last = keys[job]
            rows[count], keys[count] = job, last  # no later job has its key so far in front
            count += 1
    return count, in_order


@inner
def sort_stably(rows: Ints, keys: Floats, other_rows: Ints, other_keys: Floats, count: int) -> None:
    """Put rows in the order of their keys, equal ones as they were: a merge sort.

    A step takes either side by arithmetic: nobody can foretell which, and a wrong guess of the
    processor costs as much as five steps.
    """
    width, turned = 1, False
    while width < count:
        for first in range(0, count, 2 * width):
            middle, last = min(first + width, count), min(first + 2 * width, count)
            left, right, at = first, middle, first
            while left < middle and right < last:
                takes_right = keys[right] < keys[left]
                source = right if takes_right else left
                other_rows[at], other_keys[at] = rows[source], keys[source]
                right, left, at = right + takes_right, left + (not takes_right), at + 1
            for source in range(left, middle):
                other_rows[at], other_keys[at], at = rows[source], keys[source], at + 1
            for source in range(right, last):
                other_rows[source], other_keys[source] = rows[source], keys[source]
        rows, other_rows = other_rows, rows
        keys, other_keys = other_keys, keys
        width, turned = 2 * width, not turned
    if turned:
        for at in range(count):
            other_rows[at] = rows[at]
