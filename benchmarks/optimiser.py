"""The placement optimiser: milliseconds per decision, and how far its plans are from the best.

python -m benchmarks.optimiser
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from dovetail.policies.optimiser import (
    ChunkDemand,
    JobAsk,
    JobShape,
    NodeState,
    Plan,
    Problem,
    Reduction,
    Releases,
    multistart_greedy,
    optimise,
    rltune_way,
    warm_up,
    weights_by_rank,
)

JOBS = 16
SIZES = (64, 256, 1000)
FREE_SHARE = {"slack": 0.4, "backlogged": 0.0}
FREE_AT_LEAST = 40
"""GPUs; the 16 jobs ask for 94 on average."""

CASES = 30
BEST_NODES = 10_000
"""More than production: the best known plan is the best of all solvers and of this search."""

WIDER = Reduction(candidates=16, singles=4)


def random_problem(nodes: int, free_gpus: float, seed: int) -> Problem:
    """Nodes of 8 GPUs, 128 CPUs and 1 TB, half of each of two types, 32 to a switch."""
    random = np.random.default_rng(seed)
    free = np.tile(np.array([8, 128_000, 1_048_576], np.int64), (nodes, 1))
    kind = (np.arange(nodes) >= nodes // 2).astype(np.int64)
    ends, where, amounts = [], [], []
    held = 0
    while held < 8 * nodes - free_gpus:
        gpus = int(random.choice([1, 2, 4, 8], p=[0.45, 0.2, 0.2, 0.15]))
        able = np.flatnonzero(free[:, 0] >= gpus)
        if not len(able):
            continue
        node = int(random.choice(able))
        amount = np.array([gpus, 8000 * gpus, 65_536 * gpus], np.int64)
        free[node] -= amount
        ends.append(float(random.lognormal(8, 1.5)))
        where.append(node)
        amounts.append(amount)
        held += gpus
    releases = Releases(np.array(ends), np.array(where), np.array(amounts))
    jobs = tuple(random_job(random, weight) for weight in weights_by_rank(JOBS))
    return Problem(NodeState(free, kind, np.arange(nodes) // 32, releases), jobs)


def random_job(random: np.random.Generator, weight: int) -> JobAsk:
    """One to 32 GPUs, a third of the jobs on one type only, CPUs and memory to match or more."""
    gpus = int(random.choice([1, 2, 4, 8, 16, 32], p=[0.35, 0.15, 0.2, 0.15, 0.1, 0.05]))
    cpus, memory = int(random.choice([4000, 8000, 16_000])), int(random.choice([32, 64])) * 1024
    types = int(random.choice([1, 2, 3, 3, 3, 3]))
    per_node = min(gpus, 8)
    chunk = ChunkDemand(per_node, min(per_node * cpus, 128_000), per_node * memory)
    shapes = tuple(
        JobShape(gpus // per_node, chunk, kinds=1 << kind) for kind in range(2) if types >> kind & 1
    )
    return JobAsk(shapes, float(random.lognormal(8, 1.5)), weight)


def timed(solver: Callable[[Problem], Plan], problem: Problem) -> tuple[float, Plan]:
    began = time.perf_counter()
    plan = solver(problem)
    return 1000 * (time.perf_counter() - began), plan


def measure(nodes: int, free_gpus: float, cases: int) -> dict[str, Any]:
    """Both solvers on the same random states."""
    solvers: dict[str, Callable[[Problem], Plan]] = {
        "single greedy": lambda problem: multistart_greedy(problem, starts=1),
        "greedy": multistart_greedy,
        "milp": optimise,
        "milp, gap 0.05 %": lambda problem: optimise(problem, gap=0.0005),
        "rltune": rltune_way,
    }
    found: dict[str, list[tuple[float, int]]] = {name: [] for name in solvers}
    best = []
    for seed in range(cases):
        problem = random_problem(nodes, free_gpus, seed)
        plans = {name: timed(solver, problem) for name, solver in solvers.items()}
        for name, (milliseconds, plan) in plans.items():
            found[name].append((milliseconds, plan.value))
        longest = optimise(problem, 0.0, WIDER, BEST_NODES).value
        best.append(max(longest, *(plan.value for _, plan in plans.values())))
    rows = {}
    for name, results in found.items():
        times = [milliseconds for milliseconds, _ in results]
        below = [1 - value / top for (_, value), top in zip(results, best, strict=True)]
        rows[name] = {
            "median_ms": round(statistics.median(times), 2),
            "p99_ms": round(float(np.quantile(times, 0.99)), 1),
            "below_best_percent": round(100 * statistics.mean(below), 2),
        }
    del rows["rltune"]["below_best_percent"]  # it plans the first job only
    return rows


def run(say: Callable[[str], None] = print, cases: int = CASES) -> dict[str, Any]:
    warm_up()
    rltune_way(random_problem(64, 200, 0))
    result: dict[str, Any] = {"jobs": JOBS, "cases": cases}
    for state, share in FREE_SHARE.items():
        for nodes in SIZES:
            free_gpus = max(FREE_AT_LEAST, share * 8 * nodes)
            rows = result[f"{state}, {nodes} nodes"] = measure(nodes, free_gpus, cases)
            say(f"{state}, {nodes} nodes: {rows}")
    return result


if __name__ == "__main__":
    print(json.dumps(run(lambda line: print(line, file=sys.stderr)), indent=2))
