"""The queue: rows of jobs in order of deadline, ties in order of submission; the earliest last."""

from __future__ import annotations

from dovetail.compiled.functions import inner
from dovetail.mig.simulator.rows import MigWorld, need, queue


@inner
def _before(w: MigWorld, one: int, other: int) -> bool:
    mine, theirs = need(w, one).deadline, need(w, other).deadline
    return mine < theirs or (mine == theirs and one < other)


@inner
def enqueue(w: MigWorld, job: int) -> None:
    """Put a job in its place."""
    line, hole = queue(w), w.queued
    while hole > 0 and _before(w, line[hole - 1], job):
        line[hole] = line[hole - 1]
        hole -= 1
    line[hole] = job
    w.queued += 1


@inner
def dequeue(w: MigWorld, place: int) -> int:
    """Take a job out; returns its row."""
    line = queue(w)
    job = line[place]
    for later in range(place, w.queued - 1):
        line[later] = line[later + 1]
    w.queued -= 1
    return int(job)


@inner
def due_by(w: MigWorld, moment: float) -> int:
    """How many waiting jobs have a deadline of at most this moment."""
    line, low, high = queue(w), 0, w.queued
    while low < high:
        middle = (low + high) >> 1
        if need(w, line[middle]).deadline <= moment:
            high = middle
        else:
            low = middle + 1
    return w.queued - low
