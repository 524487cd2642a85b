"""A decision of the learned ordering: facts of the cluster, features of the queue, network.

    python -m benchmarks.run inference

The state is a real one: a simulation on 1,000 nodes of two types, stopped when enough jobs wait.
`describe` is the cost of the cluster's facts; `score` is one call from Python of features and
network for all jobs, arrays for the answer included, as anything outside the simulator makes it.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from dovetail.compiled.functions import kernel
from dovetail.domain.cluster import Cluster
from dovetail.domain.jobs import Floats
from dovetail.domain.policy import Backfill, Ordering
from dovetail.policies.ordering.learned import WEIGHTS, learned
from dovetail.policies.placement import PLACEMENTS
from dovetail.prediction import HISTORY
from dovetail.prediction.estimates import make_estimates
from dovetail.simulator import Simulation
from dovetail.simulator.kernel.facts import describe
from dovetail.testing.scores import advice
from dovetail.traces.synthetic import WORKLOADS, synthesize

CLUSTER = "500x8:v100,500x4:t4"
CALLS = {256: 4000, 10_000: 2000}
"""How often each queue is scored."""

BARS = {(256, "median"): 0.15, (256, "p99"): 0.5, (10_000, "median"): 3.0}
"""Milliseconds that describing and scoring may take together."""

LOAD = 30.0
"""A burst: with less, the queue of a cluster so large hardly reaches 10,000 jobs."""

BETWEEN = 200
"""Events between looks at the queue's length."""


def stopped(ordering: Ordering, waiting: int) -> tuple[Simulation, Any]:
    """A simulation in which at least so many jobs wait, and the rows of so many of them."""
    cluster = Cluster.parse(CLUSTER)
    trace = synthesize(
        WORKLOADS["helios"], jobs=4 * waiting + 30_000, seed=1, load=LOAD,
        cluster_gpus=cluster.total_gpus,
    )  # fmt: skip
    simulation = Simulation(
        trace, cluster, ordering, PLACEMENTS["best-fit"], Backfill.EASY,
        make_estimates(trace, "noisy:1"), HISTORY,
    )  # fmt: skip
    while simulation.advance(BETWEEN):
        tables = simulation.tables
        submitted = int(tables.world["submitted"][0])
        started = ~np.isnan(tables.runs["start"][:submitted])
        rows = np.flatnonzero(~started & (tables.runs["demand"][:submitted] >= 0))
        if len(rows) >= waiting:
            return simulation, rows[:waiting]
    raise RuntimeError(f"never were {waiting} jobs waiting")


@kernel
def describe_world(world: Any) -> None:
    describe(world[0])


def timed(call: Callable[[], object], calls: int) -> Floats:
    """Milliseconds [2, calls] of every call, by the clock and of this thread's CPU time."""
    for _ in range(calls // 10):  # warm up
        call()
    spent = np.empty((2, calls))
    for number in range(calls):
        began, used = time.perf_counter_ns(), time.thread_time_ns()
        call()
        spent[:, number] = time.perf_counter_ns() - began, time.thread_time_ns() - used
    return spent / 1e6


def summarise(spent: Floats) -> dict[str, float]:
    """Bars are held against the clock; CPU time tells what other processes added to it."""
    clock, used = spent
    return {
        "median_ms": round(float(np.median(clock)), 4),
        "p99_ms": round(float(np.quantile(clock, 0.99)), 4),
        "cpu_p99_ms": round(float(np.quantile(used, 0.99)), 4),
    }


def measure(waiting: int) -> dict[str, Any]:
    ordering = learned(np.random.default_rng(0).normal(0.0, 0.1, WEIGHTS), "network")
    simulation, rows = stopped(ordering, waiting)
    tables = simulation.tables
    queue = np.ascontiguousarray(tables.jobs[rows])
    calls = CALLS[waiting]
    facts = timed(lambda: describe_world(tables.world), calls)
    score = timed(
        lambda: advice(ordering, queue, tables.accounts, tables.cluster, tables.demand_facts),
        calls,
    )
    return {
        "jobs": waiting,
        "calls": calls,
        "kinds_of_demands_waiting": int(tables.world["active_count"][0]),
        "describe": summarise(facts),
        "score": summarise(score),
        "both": summarise(facts + score),
    }


def run(say: Callable[[str], None] = print) -> dict[str, Any]:
    rows = {waiting: measure(waiting) for waiting in CALLS}
    for waiting, row in rows.items():
        say(f"{waiting:,} jobs: {row}")
    met = {
        f"{waiting} jobs, {name} below {bar} ms": rows[waiting]["both"][f"{name}_ms"] < bar
        for (waiting, name), bar in BARS.items()
    }
    say(f"{met}")
    assert "torch" not in sys.modules, "a decision must not need torch"
    return {
        "cluster": CLUSTER,
        "load_average": [round(value, 1) for value in os.getloadavg()],
        "queues": list(rows.values()),
        "bars_met": met,
        "torch_imported": False,
    }


if __name__ == "__main__":
    print(json.dumps(run(lambda line: print(line, file=sys.stderr)), indent=2))
