"""Jobs to GPUs of three types: ADLRO's networks against rules, on 20 episodes kept from training.

python -m benchmarks.run adlro        # about four minutes of one core
"""

from __future__ import annotations

import json
import time
from typing import Any

import numpy as np

from dovetail.agents.adlro.evaluation import PlayedEpisodes, play_pool
from dovetail.agents.adlro.heuristics import HEURISTICS, Assigner
from dovetail.agents.adlro.hyper_score import hyper_score, ideal_completion_times
from dovetail.agents.adlro.networks import PairNetwork
from dovetail.agents.adlro.training import (
    TEST_SEEDS,
    AdlroConfig,
    at_size,
    by_network,
    train_adlro,
)
from dovetail.agents.dqn.config import DqnConfig
from dovetail.domain.jobs import Floats
from dovetail.envs.gpu_assignment.batch import AssignmentPool
from dovetail.evaluation.statistics import ratio_of_means
from dovetail.policies.learned.assignment_network import AssignmentNetwork

PUBLISHED = {
    "fcfs": (25.8, 6.2, 58.1),
    "static-affinity": (22.1, 7.5, 65.4),
    "pairs": (19.5, 9.1, 79.8),
}
"""Completion time (s), jobs an hour, utilisation (%) as the paper has them, on its own workload."""

TRAININGS = {
    "pairs": DqnConfig(steps=12_000, learning_rate=5e-4, last_rate=5e-5),
    "types": DqnConfig(steps=6_000, learning_rate=5e-4, last_rate=5e-5),
    "cnn": DqnConfig(steps=6_000, learning_rate=5e-4, last_rate=5e-5),
}


def run() -> dict[str, Any]:
    task = AdlroConfig().task
    pool = AssignmentPool(task, TEST_SEEDS)
    ideal = ideal_completion_times(task, TEST_SEEDS)
    played = {name: play_pool(pool, rule(task)) for name, rule in HEURISTICS.items()}
    training: dict[str, Any] = {}
    networks: dict[str, Any] = {}
    for name, dqn in TRAININGS.items():
        wall, cpu = time.perf_counter(), time.process_time()
        networks[name] = train_adlro(AdlroConfig(network=name, dqn=dqn))
        training[name] = {
            "steps": dqn.steps,
            "wall_seconds": round(time.perf_counter() - wall, 1),
            "cpu_seconds": round(time.process_time() - cpu, 1),
        }
        played[name] = play_pool(pool, by_network(networks[name]))
        print(name, json.dumps(training[name]), _row(name, played, ideal), flush=True)
    pairs = networks["pairs"]
    assert isinstance(pairs, PairNetwork)
    result = {
        "episodes": len(TEST_SEEDS),
        "table": {name: _row(name, played, ideal) for name in played},
        "published": PUBLISHED,
        "training": training,
        "regression": regression(played),
        "at_64_gpus": _larger(task, by_network(pairs)),
        "decision_ms_256_gpus": decision_time(AssignmentNetwork(pairs.arrays())),
    }
    print(json.dumps(result, indent=1))
    return result


def _row(name: str, played: dict[str, PlayedEpisodes], ideal: Floats) -> dict[str, Any]:
    ours = played[name]
    row: dict[str, Any] = {
        "completion_time": round(float(ours.completion_time.mean()), 1),
        "throughput": round(float(ours.throughput.mean()), 1),
        "utilisation": round(100 * float(ours.utilisation.mean()), 1),
        "hyper_score": round(
            float(np.mean([hyper_score(v) for v in ideal / ours.completion_time])), 2
        ),
    }
    for other in ("fcfs", "static-affinity", "index"):
        if other == name or other not in played:
            continue
        theirs = played[other]
        for measure in ("completion_time", "throughput"):
            found = ratio_of_means(getattr(ours, measure), getattr(theirs, measure))
            row[f"{measure}_against_{other}"] = [
                round(100 * (value - 1.0), 1) for value in (found.value, found.low, found.high)
            ]
    return row


def regression(played: dict[str, PlayedEpisodes]) -> dict[str, Any]:
    """Completion time (s) on utilisation (%), over episodes, within and over algorithms."""
    names = list(played)
    used = [100 * played[name].utilisation for name in names]
    spent = [played[name].completion_time for name in names]
    within = [_line(x, y) for x, y in zip(used, spent, strict=True)]
    return {
        "within": dict(zip(names, within, strict=True)),
        "over_all": _line(np.concatenate(used), np.concatenate(spent)),
    }


def _line(x: Floats, y: Floats) -> dict[str, float]:
    slope, constant = np.polyfit(x, y, 1)
    fit = float(np.corrcoef(x, y)[0, 1] ** 2)
    return {"slope": round(float(slope), 2), "constant": round(float(constant), 1),
            "r_squared": round(fit, 3)}  # fmt: skip


def _larger(task: Any, network: Assigner) -> dict[str, Any]:
    """Four times the GPUs and jobs, without training anew."""
    larger = at_size(task, 4)
    pool = AssignmentPool(larger, TEST_SEEDS[:5])
    ways: dict[str, Assigner] = {
        name: HEURISTICS[name](larger) for name in ("fcfs", "static-affinity", "index")
    }
    ways["pairs"] = network
    return {
        name: round(float(play_pool(pool, way).completion_time.mean()), 1)
        for name, way in ways.items()
    }


def decision_time(network: AssignmentNetwork) -> dict[str, float]:
    """The exported network, all 256 GPUs free, 32 jobs: milliseconds of CPU."""
    task = at_size(AdlroConfig().task, 16)
    random = np.random.default_rng(0)
    jobs = np.zeros((32, 6), np.float32)
    jobs[:, :3] = random.random((32, 3))
    jobs[np.arange(32), 3 + random.integers(0, 3, 32)] = 1.0
    gpus = np.zeros((task.count, 6), np.float32)
    types = list(task.gpus)
    gpus[np.arange(task.count), [3 + types.index(name) for name in task.types]] = 1.0
    speeds = task.believed_speeds().astype(np.float32)[jobs[:, 3:].argmax(axis=1)]
    seen = {
        "gpus": gpus, "jobs": jobs, "speeds": speeds, "queue": np.ones(1, np.float32),
        "mask": np.ones(32 * task.count + 1, np.int8),
    }  # fmt: skip
    times = []
    for _ in range(300):
        start = time.process_time()
        network.choose(seen)
        times.append(1000 * (time.process_time() - start))
    return {"median": round(float(np.median(times)), 3), "best": round(min(times), 3)}
