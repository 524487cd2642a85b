"""What a record of facts costs a placement that needs none of it: best-fit in two ways.

    python -m benchmarks.run node_facts

As a preference it is asked once for each number of free GPUs; as a rank it is shown classes of
equal nodes, for which the kernel walks over the nodes. Both give the same schedule (asserted).
Seconds are of our own processor time, the least of several runs.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numba import carray

from benchmarks.workloads import cluster, synthetic
from dovetail.domain.node_classes import ranking
from dovetail.domain.policy import Backfill, Placement
from dovetail.policies.ordering import ORDERINGS
from dovetail.policies.placement import PLACEMENTS
from dovetail.policies.placement.preferences import best_fit
from dovetail.prediction.estimates import make_estimates
from dovetail.simulator import Simulation

NODES, JOBS, TIMES = (30, 300, 3000), 20_000, 3


@ranking
def _fewest_free(parameters: Any, given: Any, count: int) -> None:
    """Gangs take the first way of running that has room."""
    classes = carray(given, (count,))
    for i in range(count):
        way = classes[i].option if classes[i].job_gpus > classes[i].chunk_gpus else 0
        classes[i].preference = 1000.0 * way + classes[i].free_gpus


def run() -> dict[str, Any]:
    ways = {
        "preference": PLACEMENTS["best-fit"],
        "rank": Placement("best-fit", best_fit, rank=_fewest_free),
    }
    return {"jobs": JOBS, "rows": [_row(nodes, ways) for nodes in NODES]}


def _row(nodes: int, ways: dict[str, Placement]) -> dict[str, Any]:
    trace, site = synthetic(nodes, jobs=JOBS, load=0.9), cluster(nodes)
    told = make_estimates(trace, "noisy:1", seed=1)
    row: dict[str, Any] = {"nodes": nodes}
    starts = []
    for name, placement in ways.items():
        spent = []
        for _ in range(TIMES):
            simulation = Simulation(trace, site, ORDERINGS["saf"], placement, Backfill.EASY, told)
            began = time.process_time()
            while simulation.advance(10_000):
                pass
            spent.append(time.process_time() - began)
        starts.append(simulation.schedule().start)
        row[f"{name}_seconds"] = round(min(spent), 3)
    assert np.array_equal(starts[0], starts[1])
    row["ratio"] = round(row["rank_seconds"] / row["preference_seconds"], 2)
    return row


if __name__ == "__main__":
    print(run())
