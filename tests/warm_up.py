"""Compiles what most tests need before they start, so that no two workers compile the same.

    python -m tests.warm_up    # into the cache that the tests use, by two processes

What is not here is compiled by the first worker that needs it: four workers that begin at once
compiled the step of an environment, half a minute, three times.
"""

from __future__ import annotations

import gc
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import gymnasium
import numpy as np

from dovetail.api import simulate
from dovetail.envs import QueuePriorityVector
from dovetail.envs.gpu_assignment import AssignmentPool, GpuAssignmentBatch, GpuAssignmentConfig
from dovetail.envs.selector_allocator.vector import SelectorAllocatorVector
from dovetail.evaluation.bounds.bound import lower_bounds
from dovetail.live.service.demo import run_demo
from dovetail.mig.evaluation.bounds import mig_bounds
from dovetail.mig.gpus.cluster import MIG_DAY_CLUSTER
from dovetail.mig.policies import PLACERS
from dovetail.mig.policies.learned.control import CONTROLS
from dovetail.mig.policies.learned.placement import SHIPPED_NAME, placer_named
from dovetail.mig.simulator import MigRules, simulate_mig
from dovetail.mig.simulator.day_runner import DayRunner
from dovetail.mig.workload.day import mig_day
from dovetail.traces.synthetic import WORKLOADS, synthesize
from tests.builders import cluster_of
from tests.envs.scenes import small_pool
from tests.envs.selector_allocator.scenes import small_pair_pool
from tests.fuzz.worker import warm_up


def replays() -> None:
    """Every ordering and backfill, predictions, bounds, and a live queue."""
    warm_up()
    trace = synthesize(WORKLOADS["helios"], jobs=50, seed=0, load=1.5, cluster_gpus=8)
    simulate(trace, "1x8", "fcfs", backfill="slurm")
    for placement in ("first-available", "worst-fit", "fgd", "lifetime", "multistart"):
        simulate(trace, "2x4", "fcfs", placement=placement)
    lower_bounds(trace, cluster_of("1x8"))
    with TemporaryDirectory() as folder:
        list(run_demo(Path(folder), cycles=2, seed=0))


def slices_and_environments() -> None:
    """Sliced GPUs first: they share nothing with the other process, which environments do."""
    day, control = mig_day(seed=0, hours=1.0), CONTROLS["joint"]
    policy = control.policy(control.start, "untrained", 5, 3)
    for placer in (*PLACERS, SHIPPED_NAME):
        simulate_mig(day, MIG_DAY_CLUSTER, placer_named(placer))
    simulate_mig(day, MIG_DAY_CLUSTER, policy.placer, policy.field)
    mig_bounds(day, MIG_DAY_CLUSTER)
    with DayRunner(MIG_DAY_CLUSTER, [day], MigRules()) as runner:
        runner.play(policy.placer, policy.field)
    for name in ("dovetail/MigPlacement-v0", "dovetail/MigRepartition-v0"):
        env = gymnasium.make(name)
        env.reset(seed=0)
        env.step(env.action_space.sample())
    assigning = GpuAssignmentBatch(AssignmentPool(GpuAssignmentConfig(), [0]))
    assigning.begin()
    assigning.step(np.argmax(assigning.seen["mask"], axis=1))
    for envs in (QueuePriorityVector(1, pool=small_pool()),
                 SelectorAllocatorVector(1, pool=small_pair_pool())):  # fmt: skip
        seen, _ = envs.reset(seed=0)
        envs.step(np.argmax(seen["mask"], axis=1))


PARTS: dict[str, Callable[[], None]] = {
    "replays": replays,
    "slices-and-environments": slices_and_environments,
}


def main(names: list[str]) -> int:
    gc.disable()
    here, *others = names or PARTS
    beside = [subprocess.Popen([sys.executable, "-m", "tests.warm_up", name]) for name in others]
    PARTS[here]()
    return max([part.wait() for part in beside], default=0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
