"""Sliced GPUs: heuristics on published MIG days, speed, learned placement and learned control.

    python -m benchmarks.run mig

Trains everything anew: a quarter of an hour on an idle core.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import mig_estimates, mig_placement, mig_repartition
from dovetail.mig.envs import MigPlacement, MigPlacementConfig, MigPlacementVector
from dovetail.mig.envs.observation import MIG_OBSERVATIONS
from dovetail.mig.evaluation.bounds import mig_bounds
from dovetail.mig.gpus.cluster import MIG_DAY_CLUSTER
from dovetail.mig.metrics import summary
from dovetail.mig.policies import PLACERS
from dovetail.mig.policy import Placer
from dovetail.mig.simulator import simulate_mig
from dovetail.mig.workload.day import mig_day
from dovetail.mig.workload.jobs import MigWorkload

DAYS = 10
COUNT = 256
"""Environments of a batch."""

STEPS = 400
ROUNDS = 5
PUBLISHED_ENVIRONMENT = 2100
"""Steps per second of the published NumPy environment."""


def table(placer: Placer, days: list[MigWorkload]) -> dict[str, Any]:
    """Means over the days, and how they vary from day to day."""
    simulate_mig(days[0], MIG_DAY_CLUSTER, placer)  # compiles
    rows = [summary(simulate_mig(d, MIG_DAY_CLUSTER, placer, seed=i)) for i, d in enumerate(days)]
    names = ("late_share", "tardiness_mean", "energy_watt_minutes", "idle_slice_share")
    result: dict[str, Any] = {"placer": placer.name}
    for name in names:
        values = [row[name] for row in rows]
        result[name] = round(statistics.mean(values), 4)
        result[f"{name}_deviation"] = round(statistics.pstdev(values), 4)
    seconds = sum(row["sim_seconds"] for row in rows)
    result["jobs_per_second"] = round(sum(map(len, days)) / seconds)
    return result


def batch_rate(observation: str, count: int) -> int:
    """Steps per second with observation and mask; only the steps are timed."""
    config = MigPlacementConfig(observation=MIG_OBSERVATIONS[observation], pool=8)
    envs = MigPlacementVector(count, config, copy=False)
    envs.reset(seed=0)
    mask = envs.batch.mask
    rates = []
    for round_ in range(ROUNDS + 1):
        spent = 0.0
        for _ in range(STEPS):
            actions = np.argmax(mask, axis=1)
            began = time.perf_counter()
            envs.step(actions)
            spent += time.perf_counter() - began
        if round_ > 0:  # the first one warms up
            rates.append(STEPS * count / spent)
    return round(statistics.median(rates))


def single_rate() -> int:
    """Steps per second of the Gymnasium environment."""
    env = MigPlacement(MigPlacementConfig(pool=2))
    env.reset(seed=0)
    began = time.perf_counter()
    for _ in range(STEPS * ROUNDS):
        env.step(np.int64(np.argmax(env.action_masks())))
    return round(STEPS * ROUNDS / (time.perf_counter() - began))


def run() -> dict[str, Any]:
    days = [mig_day(seed=seed) for seed in range(DAYS)]
    batches = {name: batch_rate(name, COUNT) for name in MIG_OBSERVATIONS}
    bounds = [mig_bounds(day, MIG_DAY_CLUSTER) for day in days]
    with tempfile.TemporaryDirectory() as folder:
        placers, costs = mig_placement.trained(Path(folder))
    return {
        "learned_placement": {**mig_placement.run(placers), "training": costs},
        "estimates": mig_estimates.run(),
        "control": mig_repartition.run(),
        "days": DAYS,
        "placers": [table(placer, days) for placer in PLACERS.values()],
        "bound_energy_watt_minutes": round(
            statistics.mean(bound.energy_joules / 60 for bound in bounds)
        ),
        "bound_tardiness_mean": round(statistics.mean(b.tardiness_mean for b in bounds), 4),
        "environments": COUNT,
        "batch_steps_per_second": batches,
        "single_steps_per_second": single_rate(),
        "times_the_published_environment": round(batches["paper"] / PUBLISHED_ENVIRONMENT),
    }
