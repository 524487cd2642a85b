"""Limits of work: what running jobs have, times the seconds that their time limits leave them.

A counter holds the sums of amounts and of amounts times the second of the stop, so that it need not
be touched as time goes by. Jobs that outlast their limits leave it then.
"""

from __future__ import annotations

import math

from dovetail.compiled.functions import inner
from dovetail.simulator.kernel.rows import World
from dovetail.simulator.kernel.state import demand, late_job, limit_link, limit_use, run_of

NEVER = 2**62


@inner
def exceeds(w: World, number: int) -> bool:
    """Whether one more job of this demand would bring the work left above a limit."""
    now, mine = _second(w, w.now), demand(w, number)
    if w.next_late < now:
        _let_go_of_late(w, now)
    for at in range(mine.link_first, mine.link_last):
        most, used = limit_link(w, at), limit_use(w, limit_link(w, at).use)
        if most.seconds >= 0 and (
            used.gpu_stops - now * used.timed_gpus > most.gpu_work - mine.gpus_asked * most.seconds
            or used.cpu_stops - now * used.timed_cpus
            > most.cpu_work - mine.cpus_asked * most.seconds
            or used.memory_stops - now * used.timed_memory
            > most.memory_work - mine.memory_asked * most.seconds
            or used.node_stops - now * used.timed_nodes
            > most.node_work - mine.nodes_asked * most.seconds
        ):
            return True
    return False


@inner
def count(w: World, job: int, by: int) -> None:
    """A job has started (1) or ended (-1); one that is beyond its limit counts no more."""
    mine, now = run_of(w, job), _second(w, w.now)
    seconds = _seconds(w, mine.demand)
    if seconds < 0:
        return
    if w.next_late < now:
        _let_go_of_late(w, now)
    stop = _second(w, mine.start) + seconds
    if stop < now:
        return
    _add(w, mine.demand, stop, by)
    if stop < _second(w, mine.end):
        if by > 0:
            late_job(w, w.late_count).job, late_job(w, w.late_count).stop = job, stop
            w.late_count += 1
            w.next_late = min(w.next_late, stop)
        else:
            _forget(w, job)


@inner
def _second(w: World, time: float) -> int:
    return math.floor(time - w.first_time)


@inner
def _seconds(w: World, number: int) -> int:
    """The time limit of a demand's jobs; below 0: nothing counts their work."""
    mine = demand(w, number)
    for at in range(mine.link_first, mine.link_last):
        if limit_link(w, at).seconds >= 0:
            return limit_link(w, at).seconds
    return -1


@inner
def _add(w: World, number: int, stop: int, by: int) -> None:
    mine = demand(w, number)
    for at in range(mine.link_first, mine.link_last):
        if limit_link(w, at).seconds < 0:
            continue
        used = limit_use(w, limit_link(w, at).use)
        used.timed_gpus += by * mine.gpus_asked
        used.timed_cpus += by * mine.cpus_asked
        used.timed_memory += by * mine.memory_asked
        used.timed_nodes += by * mine.nodes_asked
        used.gpu_stops += by * mine.gpus_asked * stop
        used.cpu_stops += by * mine.cpus_asked * stop
        used.memory_stops += by * mine.memory_asked * stop
        used.node_stops += by * mine.nodes_asked * stop


@inner
def _let_go_of_late(w: World, now: int) -> None:
    """Jobs beyond their limits have nothing left that could be counted."""
    at, w.next_late = 0, NEVER
    while at < w.late_count:
        this = late_job(w, at)
        if this.stop < now:
            _add(w, run_of(w, this.job).demand, this.stop, -1)
            _remove(w, at)
        else:
            w.next_late = min(w.next_late, this.stop)
            at += 1


@inner
def _forget(w: World, job: int) -> None:
    """A job that was to be late has lost its nodes before."""
    for at in range(w.late_count):
        if late_job(w, at).job == job:
            _remove(w, at)
            return


@inner
def _remove(w: World, at: int) -> None:
    w.late_count -= 1
    last = late_job(w, w.late_count)
    late_job(w, at).job, late_job(w, at).stop = last.job, last.stop
