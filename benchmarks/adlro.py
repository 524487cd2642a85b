"""Jobs to GPUs of three types: ADLRO's networks against rules, on 20 episodes kept from training.

python -m benchmarks.run adlro        # about a quarter of an hour of one core
python -m benchmarks.adlro cnn        # the same with one network; others stay at their start
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import platform
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from dovetail.agents.adlro.evaluation import PlayedEpisodes, play_pool
from dovetail.agents.adlro.heuristics import HEURISTICS, Assigner
from dovetail.agents.adlro.hyper_score import hyper_score, ideal_completion_times
from dovetail.agents.adlro.networks import NETWORKS, PairNetwork
from dovetail.agents.adlro.site_training import checkpoint_of
from dovetail.agents.adlro.training import (
    TEST_SEEDS,
    AdlroConfig,
    AdlroTraining,
    at_size,
    by_network,
    train_adlro,
)
from dovetail.agents.dqn.config import DqnConfig
from dovetail.domain.estimates import Estimates
from dovetail.domain.jobs import Floats
from dovetail.domain.problem import ChunkDemand, JobAsk, JobShape, NodeState, Problem, Releases
from dovetail.envs.gpu_assignment.batch import AssignmentPool
from dovetail.envs.gpu_assignment.config import GpuAssignmentConfig
from dovetail.evaluation.run import simulate
from dovetail.evaluation.statistics import ratio_of_means
from dovetail.policies.learned.assigner import TypeAssigner, assigner_from
from dovetail.policies.learned.checkpoint import Checkpoint, save_checkpoint

PUBLISHED = {
    "fcfs": (25.8, 6.2, 58.1),
    "static-affinity": (22.1, 7.5, 65.4),
    "cnn": (19.5, 9.1, 79.8),
}
"""Completion time (s), jobs an hour, utilisation (%) as the paper has them, on its own workload."""

FROM_INDEX = DqnConfig(steps=100_000, exploration=0.1, settling=0.15, learning_rate=3e-4)
TRAININGS = {
    "cnn": DqnConfig(steps=300_000),
    "pairs": FROM_INDEX,
    "types": FROM_INDEX,
}
"""The CNN learns from nothing, the other two from their rules."""

KEPT = Path("build/adlro")


def run(names: Sequence[str] = tuple(TRAININGS)) -> dict[str, Any]:
    task = AdlroConfig().task
    pool = AssignmentPool(task, TEST_SEEDS)
    ideal = ideal_completion_times(task, TEST_SEEDS)
    played = {name: play_pool(pool, rule(task)) for name, rule in HEURISTICS.items()}
    training: dict[str, Any] = {}
    done: dict[str, AdlroTraining] = {}
    for name in names:
        done[name], training[name] = trained(name)
        played[name] = play_pool(pool, by_network(done[name].network))
        print(name, json.dumps(training[name]), _row(name, played, ideal), flush=True)
    start = AdlroTraining(PairNetwork(task, duelling=False), math.nan, (), 0)
    best = done.get("pairs", start)
    pairs = checkpoint_of(best, task, {})
    result = {
        "episodes": len(TEST_SEEDS),
        "table": {name: _row(name, played, ideal) for name in played},
        "published": PUBLISHED,
        "training": training,
        "regression": regression(played),
        "at_64_gpus": _larger(task, by_network(best.network)),
        "in_the_simulator": in_the_simulator(task, pairs),
        "decision_ms_256_gpus": decision_time(task, assigner_from(pairs.arrays, "pairs")),
    }
    print(json.dumps(result, indent=1))
    return result


def trained(name: str) -> tuple[AdlroTraining, dict[str, Any]]:
    """A network and what its training took; kept below build/, so that this can be broken off."""
    config = AdlroConfig(network=name, dqn=TRAININGS[name])
    key = hashlib.sha256(repr(config).encode()).hexdigest()[:12]
    path = KEPT / f"{name}-{key}.npz"
    if path.exists():
        with np.load(path) as kept:
            about = json.loads(str(kept["about"]))
            weights = {part: torch.from_numpy(kept[part]) for part in kept if part != "about"}
        network = NETWORKS[name](config.task, config.dqn.duelling)
        network.load_state_dict(weights)
    else:
        wall, cpu = time.perf_counter(), time.process_time()
        done = train_adlro(config, keep=lambda best: print(name, best.looks[-1:], flush=True))
        network = done.network
        about = {
            "steps": config.dqn.steps,
            "validation_start": round(done.start, 2),
            "validation_looks": [round(look, 2) for look in done.looks],
            "kept_look": done.kept,
            "wall_seconds": round(time.perf_counter() - wall, 1),
            "cpu_seconds": round(time.process_time() - cpu, 1),
        }
        KEPT.mkdir(parents=True, exist_ok=True)
        weights = network.state_dict()
        arrays: dict[str, Any] = {part: tensor.numpy() for part, tensor in weights.items()}
        np.savez(path, **arrays, about=np.array(json.dumps(about)))
    looks = tuple(about["validation_looks"])
    return AdlroTraining(network, about["validation_start"], looks, about["kept_look"]), about


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


def in_the_simulator(task: GpuAssignmentConfig, model: Checkpoint) -> dict[str, Any]:
    """ADLRO as a policy of `compare`: mean completion time (s) of 20 longer histories, EASY."""
    longer = replace(task, jobs=1000)
    draws = [longer.draw(np.random.default_rng(seed)) for seed in TEST_SEEDS]
    found: dict[str, Floats] = {}
    with tempfile.TemporaryDirectory() as folder:
        save_checkpoint(Path(folder), model)
        for name, policy in (("fcfs", "fcfs"), ("saf", "saf"), ("adlro", Path(folder))):
            runs = [
                simulate(
                    drawn.trace, longer.cluster(), policy,
                    estimates=Estimates("told", drawn.estimates),
                )
                for drawn in draws
            ]  # fmt: skip
            found[name] = np.array([np.mean(run.end - run.trace.jobs.submit) for run in runs])
    rows: dict[str, Any] = {name: round(float(times.mean()), 1) for name, times in found.items()}
    for other in ("fcfs", "saf"):
        ratio = ratio_of_means(found["adlro"], found[other])
        rows[f"adlro_against_{other}"] = [
            round(100 * (value - 1.0), 1) for value in (ratio.value, ratio.low, ratio.high)
        ]
    return rows


def decision_time(task: GpuAssignmentConfig, assigner: TypeAssigner) -> dict[str, float]:
    """Milliseconds of CPU for a decision on 256 GPUs with 32 jobs waiting, from tables to a node:
    with one GPU free, and, per start, with all of them free."""
    one_free, all_free = _problem(task, busy=255), _problem(task, busy=0)
    found = {}
    for name, problem in (("one_free", one_free), ("per_start_all_free", all_free)):
        times = []
        for _ in range(200):
            start = time.process_time()
            plan = assigner(problem)
            times.append(1000 * (time.process_time() - start) / max(1, len(plan.starts)))
        found[name] = round(float(np.median(times)), 3)
    return found


def _problem(task: GpuAssignmentConfig, busy: int) -> Problem:
    larger, random = at_size(task, 16), np.random.default_rng(0)
    types = list(larger.gpus)
    of_node = np.array([types.index(name) for name in larger.types])
    free = np.zeros((larger.count, 3), np.int64)
    free[busy:, 0] = 1
    ends = Releases(
        random.random(busy) * 300.0, np.arange(busy), np.tile(np.array([1, 0, 0]), (busy, 1))
    )
    shapes = {
        kind: tuple(
            JobShape(1, ChunkDemand(1), kinds=1 << number, speed=larger.speeds[kind][gpu])
            for number, gpu in enumerate(types)
        )
        for kind in larger.kinds
    }
    jobs = tuple(
        JobAsk(shapes[kind], float(random.random() * 200.0 + 1.0), 100)
        for kind in random.choice(larger.kinds, 32).tolist()
    )
    return Problem(NodeState(free, of_node, np.zeros(larger.count, np.int64), ends), jobs)


if __name__ == "__main__":
    found = run(sys.argv[1:] or tuple(TRAININGS))
    machine = {"machine": platform.machine(), "cores": os.cpu_count()}
    path = Path(__file__).parent / "results" / "adlro.json"
    path.write_text(json.dumps({**found, **machine}, indent=1, sort_keys=True) + "\n")
