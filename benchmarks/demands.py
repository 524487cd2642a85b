"""Speed where jobs ask for memory: RICC, and a growing number of demands.

python -m benchmarks.run demands
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from benchmarks.simulator import queue_depth
from benchmarks.workloads import GPUS_PER_NODE, folder, synthetic
from dovetail.domain.cluster import Cluster, Node
from dovetail.domain.estimates import Estimates
from dovetail.domain.policy import Backfill, BackfillRule
from dovetail.domain.schedule import Schedule
from dovetail.domain.trace import Trace
from dovetail.policies.ordering import ORDERINGS
from dovetail.policies.placement import PLACEMENTS
from dovetail.policies.policy import policy_named
from dovetail.prediction import HISTORY
from dovetail.prediction.estimates import make_estimates
from dovetail.simulator import Simulation, simulate
from dovetail.simulator.engine import STEPS
from dovetail.traces.reader import read_trace

RICC_NODES, RICC_MEMORY = 1024, 12.0
"""Nodes of eight processors, GB of each."""

RICC_ORDERS = (*ORDERINGS, "dovetail")
"""All that need no training, and what is shipped."""

RICC_JOBS = 100_000
"""Of the trace, from its start."""

DEMANDS = (10, 30, 100, 300, 1000)
GROWTH_NODES, GROWTH_JOBS, MEMORY = 256, 100_000, 256.0
REPEATS = 3


def site(nodes: int, memory: float) -> Cluster:
    return Cluster(
        tuple(Node(f"n{i}", GPUS_PER_NODE, memory_gb=memory) for i in range(nodes)),
        name=f"{nodes}x{GPUS_PER_NODE}, {memory:g} GB",
    )


def play(
    trace: Trace,
    cluster: Cluster,
    order: str,
    backfill: BackfillRule = Backfill.EASY,
    told: str | Estimates = "",
) -> Schedule:
    ordering, _ = policy_named(order)
    estimates = told_of(trace, told) if isinstance(told, str) else told
    return simulate(trace, cluster, ordering, PLACEMENTS["best-fit"], backfill, estimates, HISTORY)


def told_of(trace: Trace, told: str = "") -> Estimates:
    """Users' limits where all jobs have one."""
    known = bool(np.isfinite(trace.jobs.limit).all())
    return make_estimates(trace, told or ("limit" if known else "noisy:1"))


class Timed(NamedTuple):
    """A replay, and the processor time of the simulation itself: others share the cores."""

    schedule: Schedule
    seconds: float


def play_timed(trace: Trace, cluster: Cluster, order: str) -> Timed:
    ordering, _ = policy_named(order)
    simulation = Simulation(
        trace, cluster, ordering, PLACEMENTS["best-fit"], Backfill.EASY, told_of(trace), HISTORY
    )
    before = time.process_time()
    while simulation.advance(STEPS):
        pass
    return Timed(simulation.schedule(), time.process_time() - before)


def ricc(say: Callable[[str], None]) -> list[dict[str, Any]]:
    """The first jobs of RICC, with the memory that they ask for, on nodes that have 12 GB."""
    path = folder() / "pwa_ricc_2010.parquet"
    if not path.exists():
        return []
    whole, rows = read_trace(path, repair=("all",)), []
    nodes = site(RICC_NODES, RICC_MEMORY)
    trace = whole.slice(0, RICC_JOBS)
    for order in RICC_ORDERS:
        timed = [play_timed(trace, nodes, order) for _ in range(REPEATS)]
        mean, most = queue_depth(timed[0].schedule)
        row = {
            "order": order,
            "backfill": Backfill.EASY.value,
            "jobs": RICC_JOBS,
            "jobs_per_second_median": round(
                statistics.median(RICC_JOBS / run.schedule.sim_seconds for run in timed)
            ),
            "jobs_per_processor_second_median": round(
                statistics.median(RICC_JOBS / run.seconds for run in timed)
            ),
            "waiting_mean": round(mean, 1),
            "waiting_most": most,
        }
        rows.append(row)
        say(
            f"RICC {order} {row['backfill']}, {RICC_JOBS:,} jobs: "
            f"{row['jobs_per_second_median']:,} jobs/s by the clock, "
            f"{row['jobs_per_processor_second_median']:,} by processor time, "
            f"{row['waiting_mean']} waiting"
        )
    return rows


def on_one_node(trace: Trace) -> Trace:
    """Jobs of 1, 2, 4 or 8 GPUs in the place of the trace's own, as much work in as much time."""
    jobs = trace.jobs
    gpus = 2 ** np.ceil(np.log2(np.minimum(jobs.gpus, GPUS_PER_NODE))).astype(np.int64)
    faster = float(np.sum(gpus * jobs.run) / np.sum(jobs.gpus * jobs.run))
    return Trace(replace(jobs, gpus=gpus, submit=jobs.submit * faster), trace.name)


def asking(trace: Trace, demands: int) -> Trace:
    """The same jobs, each with one of so many amounts of memory for its number of GPUs.

    Amounts lie evenly between nothing and what a node has for that many GPUs, half as much again
    for small jobs: with few amounts or with many, memory runs short as often.
    """
    sizes, size = np.unique(trace.jobs.gpus, return_inverse=True)
    amounts = max(1, round(demands / len(sizes)))
    part = (np.random.default_rng(0).integers(amounts, size=len(trace)) + 0.5) / amounts
    most = MEMORY / GPUS_PER_NODE * np.where(sizes < GPUS_PER_NODE, 1.5, 1.0)[size]
    return Trace(replace(trace.jobs, memory=part * most * trace.jobs.gpus), trace.name)


def growth(say: Callable[[str], None]) -> list[dict[str, Any]]:
    """Processor time of an event from 10 to 1,000 distinct demands, beside a logarithm."""
    plain, rows = on_one_node(synthetic(GROWTH_NODES, GROWTH_JOBS, load=1.0)), []
    for order in ("fcfs", "saf"):
        costs: list[float] = []
        for demands in DEMANDS:
            trace = asking(plain, demands)
            kinds = len(set(zip(trace.jobs.gpus.tolist(), trace.jobs.memory.tolist(), strict=True)))
            nodes = site(GROWTH_NODES, MEMORY)
            timed = [play_timed(trace, nodes, order) for _ in range(REPEATS)]
            costs.append(min(run.seconds for run in timed) / timed[0].schedule.events)
            row = {
                "order": order,
                "demands": kinds,
                "nanoseconds_per_event": round(1e9 * costs[-1]),
                "times_the_first": round(costs[-1] / costs[0], 2),
                "logarithm": round(math.log(demands) / math.log(DEMANDS[0]), 2),
                "waiting_mean": round(queue_depth(timed[0].schedule)[0], 1),
            }
            rows.append(row)
            say(
                f"{order}, {kinds} demands: {row['nanoseconds_per_event']} ns an event, "
                f"{row['times_the_first']} times the first (a logarithm: {row['logarithm']}), "
                f"{row['waiting_mean']} waiting"
            )
    return rows


def run(say: Callable[[str], None] = print) -> dict[str, Any]:
    play(asking(synthetic(16, jobs=200, load=0.5), 10), site(16, MEMORY), "fcfs")  # compile
    return {"ricc": ricc(say), "growth": growth(say)}
