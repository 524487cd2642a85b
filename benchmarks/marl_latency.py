"""How long one decision of both agents takes: all waiting jobs scored, nodes found for the best.

python -m benchmarks.marl_latency
"""

from __future__ import annotations

import json
import math
import sys
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numba import from_dtype, types

from benchmarks.inference import summarise, timed
from dovetail.compiled.functions import kernel
from dovetail.compiled.native import Kept, native_type, taker
from dovetail.compiled.tables import dtype_of
from dovetail.domain.cluster import Cluster
from dovetail.domain.policy import Backfill
from dovetail.policies.learned.models import MODELS
from dovetail.policies.node_features import NODE_FEATURES
from dovetail.policies.ordering.kernel_network import shapes
from dovetail.policies.placement.allocator import SHAPES
from dovetail.policies.selections import ALL
from dovetail.prediction.estimates import make_estimates
from dovetail.simulator import Simulation
from dovetail.simulator.kernel.facts import describe
from dovetail.simulator.kernel.node_classes import give_up, place_by_rank
from dovetail.simulator.kernel.pass_opening import see_what_fits
from dovetail.simulator.kernel.queue import rescore
from dovetail.simulator.kernel.rows import World
from dovetail.simulator.kernel.rules import RULES, Rules
from dovetail.simulator.kernel.state import demand, option, scores, waiting
from dovetail.traces.synthetic import WORKLOADS, synthesize

JOBS = 256
NODES = (30, 300, 1000, 3000)
CALLS = 3000
BAR_MS = 1.0
"""For 256 jobs and 1,000 nodes, 99th percentile."""


class DecisionArguments(NamedTuple):
    """What a decision is made from."""

    world: Any
    rules: Rules


KIND = native_type(
    DecisionArguments, world=types.Array(from_dtype(dtype_of(World)), 1, "C"), rules=RULES
)
_take = taker(KIND)


@kernel
def decide(at: int) -> int:
    """Score all waiting jobs, then find nodes for the best that fits; nothing is started."""
    given = _take(at)
    w, rules = given.world[0], given.rules
    see_what_fits(w)
    describe(w)
    rescore(w, rules)
    best, job = math.inf, -1
    for i in range(w.active_count):
        mine = demand(w, demand(w, i).active)
        if mine.fits:
            for place in range(mine.low, mine.high):
                if scores(w)[place] < best:
                    best, job = scores(w)[place], waiting(w)[place]
    if job < 0:
        return 0
    way = place_by_rank(w, job)
    chunks = option(w, way).many + option(w, way).few if way >= 0 else 0
    give_up(w, job, chunks)
    return chunks


def random_pair(seed: int = 0) -> Any:
    """A pair of networks that nobody trained: what a decision costs does not depend on that."""
    random = np.random.default_rng(seed)
    arrays: dict[str, Any] = {"selector_features": np.array(ALL.names())}
    for name, shape in shapes(ALL.width).items():
        arrays[f"selector_{name}"] = random.normal(0.0, 0.1, shape)
    arrays["selector_decline"] = np.array([-100.0])  # never waits
    arrays["allocator_node_features"] = np.array(NODE_FEATURES)
    for name, shape in SHAPES.items():
        arrays[f"allocator_{name}"] = random.normal(0.0, 0.1, shape)
    return MODELS["selector-allocator"](arrays, "random")


def stopped(nodes: int) -> Simulation:
    """A simulation in which 256 jobs or more wait, and some of them fit."""
    cluster = Cluster.parse(f"{nodes // 2}x8:v100,{nodes - nodes // 2}x4:p100")
    ordering, placement = random_pair()
    trace = synthesize(WORKLOADS["helios"], 20 * nodes + 3000, 1, 30.0, cluster.total_gpus)
    simulation = Simulation(
        trace, cluster, ordering, placement, Backfill.NONE, make_estimates(trace, "noisy:1")
    )
    while simulation.advance(20):
        if _waiting(simulation) >= JOBS and int(simulation.tables.world["free_gpus"][0]) >= 8:
            return simulation
    raise RuntimeError(f"never were {JOBS} jobs waiting on {nodes} nodes")


def _waiting(simulation: Simulation) -> int:
    demands = simulation.tables.demands
    return int((demands["high"] - demands["low"]).sum())


def measure_latency() -> dict[str, Any]:
    found = []
    for nodes in NODES:
        simulation = stopped(nodes)
        kept = Kept(DecisionArguments(simulation.tables.world, simulation.rules), KIND)
        chunks = decide(kept.address)
        row = {
            "nodes": nodes,
            "jobs_waiting": _waiting(simulation),
            "chunks_placed": chunks,
            **summarise(timed(partial(decide, kept.address), CALLS)),
        }
        print(row, file=sys.stderr, flush=True)
        found.append(row)
    bar = next(row for row in found if row["nodes"] == 1000)
    return {
        "decisions": found,
        "bar_ms": BAR_MS,
        "bar_met": bar["p99_ms"] < BAR_MS,
        "torch_imported": "torch" in sys.modules,
    }


if __name__ == "__main__":
    print(json.dumps(measure_latency(), indent=1))
