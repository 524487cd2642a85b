"""The queue-priority environment: decisions per second, batch-stepped, on one core and on two.

python -m benchmarks.environment
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from dovetail.envs import Pool, QueuePriorityBatch, QueuePriorityConfig, SyntheticWindows
from dovetail.envs.shown import SHOWN
from dovetail.envs.stage import DECLINE

COUNT = 512
"""Environments of a batch."""

STEPS = 120
ROUNDS = 5
DECLINED = 0.05
"""Share of the decisions that decline to backfill, where they may."""


def random_actions(batch: QueuePriorityBatch, random: np.random.Generator) -> Any:
    """Valid ones: any of the jobs shown, now and then the decline."""
    mask = batch.seen["mask"]
    jobs = (random.random(batch.count) * mask[:, :SHOWN].sum(axis=1)).astype(np.int64)
    declines = (random.random(batch.count) < DECLINED) & (mask[:, DECLINE] > 0)
    return np.where(declines, DECLINE, jobs)


def measure(pool: Pool, threads: int) -> dict[str, Any]:
    """Only the steps are timed: choosing is the agent's business."""
    batch = QueuePriorityBatch(count=COUNT, threads=threads, pool=pool)
    random = np.random.default_rng(0)
    batch.reset(seed=0)
    rates, shown, episodes = [], [], 0
    for round_ in range(ROUNDS + 1):
        spent = 0.0
        for _ in range(STEPS):
            shown.append(float(batch.stage.shown.mean()))
            actions = random_actions(batch, random)
            began = time.perf_counter()
            _, _, dones, _ = batch.step(actions)
            spent += time.perf_counter() - began
            episodes += int(dones.sum())
        if round_ > 0:  # the first one warms up
            rates.append(STEPS * COUNT / spent)
    batch.close()
    return {
        "threads": threads,
        "decisions_per_second": round(statistics.median(rates)),
        "best_decisions_per_second": round(max(rates)),
        "jobs_shown_mean": round(statistics.mean(shown), 1),
        "episodes_ended": episodes,
    }


def reset_time(pool: Pool) -> float:
    """Microseconds that a reset takes, what is seen first included."""
    batch = QueuePriorityBatch(count=COUNT, pool=pool)
    times = []
    for seed in range(ROUNDS):
        windows = np.random.default_rng(seed).integers(len(pool), size=COUNT)
        began = time.perf_counter()
        batch.begin(windows)
        times.append(time.perf_counter() - began)
    return 1e6 * statistics.median(times) / COUNT


def run(say: Callable[[str], None] = print) -> dict[str, Any]:
    pool = Pool(QueuePriorityConfig(SyntheticWindows(), pool=64))
    rows = [measure(pool, threads) for threads in (1, 2)]
    for row in rows:
        say(
            f"{row['threads']} threads: {row['decisions_per_second']:,} decisions/s, "
            f"{row['jobs_shown_mean']} jobs shown on average"
        )
    reset = round(reset_time(pool), 1)
    say(f"a reset takes {reset} µs")
    return {"environments": COUNT, "batch": rows, "reset_microseconds": reset}


if __name__ == "__main__":
    print(json.dumps(run(), indent=2))
