"""Windows of a trace that start from the cluster as it was then, not from an idle one.

    window = warm_window(schedule, first=50, count=16)       # jobs 50 to 65
    told = make_estimates(window.trace, "exact")
    policy = ordering, placement, Backfill.EASY
    simulation = Simulation(window.trace, schedule.cluster, *policy, told, warm=window)

Jobs that ran or waited when the window begins are carried into it as its first rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dovetail.compiled.functions import inner, kernel
from dovetail.domain.jobs import Bools, Floats, Ints
from dovetail.domain.schedule import Schedule
from dovetail.domain.trace import Trace
from dovetail.simulator.build import Tables
from dovetail.simulator.kernel import eligibility, events, fair_tree, limits
from dovetail.simulator.kernel.allocation import take_bits
from dovetail.simulator.kernel.in_use import count_in_use
from dovetail.simulator.kernel.loop import submit_next
from dovetail.simulator.kernel.revisions import believe, next_revision, revise
from dovetail.simulator.kernel.rows import World
from dovetail.simulator.kernel.rules import Rules
from dovetail.simulator.kernel.state import (
    account,
    cluster_facts,
    demand,
    job_facts,
    large,
    node,
    option,
    part,
    run_of,
    small,
)


@dataclass(frozen=True, slots=True)
class Window:
    """Jobs of a trace with the state that they met; rows before `carried` came earlier."""

    trace: Trace
    rows: Ints  # [jobs] their rows in the whole trace
    now: float  # when the window begins
    carried: int  # jobs that ran or waited then
    start: Floats  # [carried] NaN: waited
    chunk_offset: Ints  # [carried + 1]
    chunk_node: Ints
    chunk_gpus: NDArray[np.uint64]

    @property
    def own(self) -> Bools:
        """The window's own jobs, those that are measured."""
        return np.arange(len(self.trace)) >= self.carried


def warm_window(schedule: Schedule, first: int, count: int) -> Window:
    """`count` consecutive jobs from row `first` on, and the state in which they come."""
    jobs = schedule.trace.jobs
    now = float(jobs.submit[first])
    before = np.arange(len(jobs)) < first
    alive = schedule.ran & before & ~(schedule.end <= now)
    carried = np.flatnonzero(alive)
    started = schedule.start[carried] < now
    stop = min(first + count, len(jobs))
    rows = np.concatenate((carried, np.arange(first, stop)))
    count_of = np.where(started, np.diff(schedule.chunk_offset)[carried], 0)
    offset = np.concatenate(([0], np.cumsum(count_of))).astype(np.int64)
    chunks = np.repeat(schedule.chunk_offset[carried] - offset[:-1], count_of)
    chunks = chunks + np.arange(offset[-1])
    return Window(
        trace=Trace(
            jobs.take(rows),
            f"{schedule.trace.name}[{first}:{stop}]",
            origin=schedule.trace.origin,
        ),
        rows=rows,
        now=now,
        carried=len(carried),
        start=np.where(started, schedule.start[carried], np.nan),
        chunk_offset=offset,
        chunk_node=schedule.chunk_node[chunks],
        chunk_gpus=schedule.chunk_gpus[chunks],
    )


def nodes_seen(window: Window, tables: Tables) -> Ints:
    """Where carried jobs run, as a simulation numbers nodes: some are in a reservation."""
    nodes = window.chunk_node.copy()
    for job in range(window.carried if tables.site.reserved else 0):
        mine = tables.demands[tables.runs["demand"][job]]
        own = tables.options["small_kinds"][mine["option_first"] : mine["option_last"]]
        own = own | tables.options["large_kinds"][mine["option_first"] : mine["option_last"]]
        for at in range(int(window.chunk_offset[job]), int(window.chunk_offset[job + 1])):
            number = tables.site.seen(job, int(nodes[at]))
            if np.any(own >> tables.nodes["kind"][number] & 1):
                nodes[at] = number
    return nodes


@kernel
def resume(
    world: NDArray[np.void],
    rules: Rules,
    now: float,
    start: Floats,
    offset: Ints,
    nodes: Ints,
    gpus: NDArray[np.uint64],
) -> None:
    """Put carried jobs where they ran, or into the queue, and set the clock."""
    w = world[0]
    w.now = w.last_cycle = now
    w.news = True
    cluster_facts(w, 0).now = now
    for job in range(len(start)):
        if start[job] < now and run_of(w, job).demand >= 0:
            _resume_job(w, job, start[job], nodes[offset[job] : offset[job + 1]],
                        gpus[offset[job] : offset[job + 1]])  # fmt: skip
            w.submitted += 1
            if w.linked:
                eligibility.pass_held(w)
        else:
            submit_next(w, rules)


@inner
def _resume_job(w: World, job: int, start: float, nodes: Ints, gpus: NDArray[np.uint64]) -> None:
    mine, facts = run_of(w, job), job_facts(w, job)
    number = _option_used(w, mine.demand, nodes)
    this = option(w, number)
    mine.start, mine.end = start, start + mine.run / this.speed
    believe(w, job, this.speed)
    while next_revision(w, job) <= w.now:  # those of the past
        revise(w, job)
    if w.charged:
        account(w, facts.account).gpus += facts.size
        count_in_use(w, mine, facts.size, 1)
        if w.share_count > 0:
            mine.charge = this.charge
            fair_tree.charge(w, mine.share, mine.charge)
    if w.limited:
        limits.count_running(w, job, 1)
        limits.count_submitted(w, mine.demand, 1)
    if w.eventful:
        w.parts = mine.part_first
    mine.part_first, mine.part_count = w.parts, len(nodes)
    for i in range(len(nodes)):
        chunk = large(w, number) if i < this.many else small(w, number)
        take_bits(w, job, nodes[i], chunk, gpus[i])
        part(w, w.parts).node = nodes[i]
        part(w, w.parts).gpus = gpus[i]
        w.parts += 1
    events.push(w, mine.end, job)
    if next_revision(w, job) < mine.end:
        events.push(w, next_revision(w, job), w.job_count + job)


@inner
def _option_used(w: World, number: int, nodes: Ints) -> int:
    """The option whose nodes these are."""
    mine = demand(w, number)
    for at in range(mine.option_first, mine.option_last):
        this = option(w, at)
        if this.many + this.few == len(nodes) and this.large_kinds >> node(w, nodes[0]).kind & 1:
            return at
    return mine.option_first
