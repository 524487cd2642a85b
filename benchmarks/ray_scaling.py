"""How much faster compare, evaluate and train are with two Ray workers on two nodes than with one.

python -m benchmarks.run ray_scaling

Two Ray node processes with a processor each stand on this machine, on the loopback. One and two
workers take turns; a figure is the least of its rounds, with all that starts a worker in it
(connecting, and loading compiled code: 4 s and more).
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from dovetail.agents.catalogue import ChoiceConfig
from dovetail.agents.engines import ENGINES, Engine
from dovetail.agents.history import Site
from dovetail.agents.ray_players import LOOPBACK, STAY_LOCAL
from dovetail.agents.training import train
from dovetail.domain.cluster import Cluster
from dovetail.evaluation.comparison import compare
from dovetail.evaluation.unseen import Draws, evaluate_unseen
from dovetail.policies.policy import Policy
from dovetail.traces.synthetic import WORKLOADS, synthesize

ROUNDS = 3
CLUSTER = "17x8"
POLICIES = ("fcfs", "saf", "sjf", "f1", "wfp3", "unicep", "slurm-multifactor", "saf-2")
JOBS, LONGEST = 60_000, 12_000
"""Jobs of the trace; jobs that candidates of a choice are measured on."""

Task = Callable[[Engine, int], Any]


def run() -> dict[str, Any]:
    trace = synthesize(WORKLOADS["helios"], JOBS, seed=1, load=1.1, cluster_gpus=136)
    site = Site(trace, Cluster.parse(CLUSTER))
    tasks: dict[str, Task] = {
        "compare": partial(_compare, site),
        "evaluate": partial(_evaluate, site),
        "train": partial(_train, site),
    }
    found: dict[str, dict[str, list[float]]] = {name: {"1": [], "2": []} for name in tasks}
    with two_nodes() as address:
        for number in range(ROUNDS):
            for name, task in tasks.items():
                for workers in (1, 2) if number % 2 == 0 else (2, 1):
                    began = time.perf_counter()
                    task(ENGINES["ray"](address), workers)
                    taken = time.perf_counter() - began
                    found[name][str(workers)].append(round(taken, 1))
                    print(f"{name}, {workers}: {taken:.1f} s", file=sys.stderr, flush=True)
    return {
        "jobs": JOBS,
        "load_average": [round(each, 1) for each in os.getloadavg()],
        "seconds": found,
        "speed_up": {
            name: round(min(each["1"]) / min(each["2"]), 2) for name, each in found.items()
        },
    }


@contextmanager
def two_nodes() -> Iterator[str]:
    """The address of a Ray cluster of two nodes with a processor each."""
    os.environ.update(STAY_LOCAL | {"RAY_worker_niceness": "0"})
    cluster = import_module("ray.cluster_utils").Cluster(shutdown_at_exit=False)
    try:
        for more in ({"include_dashboard": False}, {}):
            cluster.add_node(
                num_cpus=1, node_ip_address=LOOPBACK, object_store_memory=256 << 20, **more
            )
        yield cluster.address
    finally:
        import_module("ray").shutdown()
        cluster.shutdown()


def _compare(site: Site, engine: Engine, workers: int) -> Any:
    return compare(
        site.trace, site.cluster, POLICIES, "noisy:1", sequences=60, length=10_000,
        workers=workers, engine=engine,
    )  # fmt: skip


def _evaluate(site: Site, engine: Engine, workers: int) -> Any:
    draws = Draws(site.trace, "noisy:1", 1, 8)
    policies = [Policy(name) for name in POLICIES]
    return evaluate_unseen(
        site.trace, site.cluster, policies, draws, workers=workers, engine=engine
    )


def _train(site: Site, engine: Engine, workers: int) -> Any:
    config = ChoiceConfig("noisy:1", longest=LONGEST)
    with TemporaryDirectory() as folder:
        return train("choice", None, [site], Path(folder), config, workers=workers, engine=engine)
