"""A workload becomes a trace: draw the jobs, set the load, set the clock, round."""

from __future__ import annotations

import math

import numpy as np

from dovetail.domain.cluster import MAX_GPUS_PER_NODE, MAX_NODES
from dovetail.domain.errors import ConfigError
from dovetail.domain.jobs import JobColumns, Jobs
from dovetail.domain.trace import DRAWN, Trace
from dovetail.traces.synthetic.streams import Streams
from dovetail.traces.synthetic.workload import LONGEST_RUN, Workload

SHORTEST_SPAN = 100.0
"""Submit times are whole seconds: on a shorter span the load would be off by over 0.5 %."""

MAX_JOBS = 10_000_000
"""Years of the largest clusters; more would not fit into memory."""

MAX_GPUS = MAX_NODES * MAX_GPUS_PER_NODE
"""Of the largest cluster that can be described."""


def synthesize(
    workload: Workload,
    jobs: int,
    seed: int = 0,
    load: float | None = None,
    cluster_gpus: int | None = None,
) -> Trace:
    """A trace of `jobs` jobs; the same arguments give the same digest.

    `load` is the offered load on `cluster_gpus` (default: the workload's own cluster), reached
    by scaling inter-arrival times; without it jobs arrive at the workload's own rate. Sizes
    beyond a given `cluster_gpus` are left out, since such a job could never start.
    """
    if not 1 <= jobs <= MAX_JOBS:
        raise ConfigError(f"jobs is {jobs}, expected 1 to {MAX_JOBS:,}")
    if cluster_gpus is not None and not 1 <= cluster_gpus <= MAX_GPUS:
        raise ConfigError(f"cluster_gpus is {cluster_gpus}, expected 1 to {MAX_GPUS:,}")
    if seed < 0:
        raise ConfigError(f"seed is {seed}, expected 0 or more")
    gpus = workload.cluster_gpus if cluster_gpus is None else cluster_gpus
    draft = workload.draw(jobs, Streams(seed), largest=gpus)
    run = np.clip(np.round(draft.run), 1.0, LONGEST_RUN)
    due = draft.due
    notes = [f"drawn from the workload {workload.name} with seed {seed}, not recorded"]
    if load is not None:
        span = _span(float(np.sum(run * draft.gpus)), load, gpus, jobs)
        due = due * (workload.rhythm.busy(span) / due[-1])
        notes.append(f"inter-arrival times scaled to an offered load of {load:g} on {gpus} GPUs")
    submit = np.round(workload.rhythm.clock(due))
    columns = JobColumns(
        submit=submit,
        run=run,
        gpus=draft.gpus,
        limit=draft.limit,
        cpus=draft.cpus,
        memory=draft.memory,
        user=draft.user,
        partition=draft.partition,
        kind=draft.kind,
    )
    return Trace(columns.build(), workload.name + DRAWN, tuple(notes))


def offered_load(jobs: Jobs, cluster_gpus: int) -> float:
    """GPU time asked for, over what the cluster has between first and last submission."""
    span = float(jobs.submit[-1] - jobs.submit[0])
    demand = float(np.sum(jobs.run * jobs.gpus))
    return demand / (cluster_gpus * span) if span > 0 else math.inf


def _span(demand: float, load: float, gpus: int, jobs: int) -> float:
    """Seconds between first and last submission that give this load."""
    if not 0 < load < math.inf:
        raise ConfigError(f"load is {load}, expected above 0; 1 asks for every GPU all the time")
    if jobs < 2:
        raise ConfigError("a load needs 2 jobs or more, with time between them")
    span = demand / (gpus * load)
    if span < SHORTEST_SPAN:
        raise ConfigError(
            f"a load of {load:g} on {gpus} GPUs would need all {jobs} jobs within {span:.0f} s; "
            "ask for more jobs, a smaller cluster or a lower load"
        )
    return span
