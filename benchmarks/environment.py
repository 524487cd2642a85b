"""The queue-priority environment: one step alone, sixteen together, and decisions per second.

python -m benchmarks.environment
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.peers import ENVIRONMENTS, show_peers
from dovetail.envs import (
    Pool,
    QueuePriority,
    QueuePriorityConfig,
    QueuePriorityVector,
    SyntheticWindows,
)
from dovetail.envs.batch_kernel import DECLINE
from dovetail.envs.visible_jobs import SHOWN

COUNT = 512
"""Environments of a batch."""

TOGETHER = 16
"""Environments of a small batch, as learners have them by default."""

STEPS = 120
SINGLE_STEPS = 2000
ROUNDS = 5
DECLINED = 0.05
"""Share of the decisions that decline to backfill, where they may."""


def random_actions(mask: Any, random: np.random.Generator) -> Any:
    """Valid ones: any of the jobs shown, now and then the decline."""
    count = len(mask)
    jobs = (random.random(count) * mask[:, :SHOWN].sum(axis=1)).astype(np.int64)
    declines = (random.random(count) < DECLINED) & (mask[:, DECLINE] > 0)
    return np.where(declines, DECLINE, jobs)


def measure(pool: Pool, threads: int) -> dict[str, Any]:
    """Only the steps are timed: choosing is the agent's business."""
    envs = QueuePriorityVector(COUNT, pool=pool, threads=threads, copy=False)
    random = np.random.default_rng(0)
    seen, _ = envs.reset(seed=0)
    rates, shown, episodes = [], [], 0
    for round_ in range(ROUNDS + 1):
        spent = 0.0
        for _ in range(STEPS):
            shown.append(float(envs.batch.stage.shown.mean()))
            actions = random_actions(seen["mask"], random)
            began = time.perf_counter()
            seen, _, dones, _, _ = envs.step(actions)
            spent += time.perf_counter() - began
            episodes += int(dones.sum())
        if round_ > 0:  # the first one warms up
            rates.append(STEPS * COUNT / spent)
    envs.close()
    return {
        "threads": threads,
        "decisions_per_second": round(statistics.median(rates)),
        "best_decisions_per_second": round(max(rates)),
        "jobs_shown_mean": round(statistics.mean(shown), 1),
        "episodes_ended": episodes,
    }


def reset_time(pool: Pool) -> float:
    """Microseconds that a reset takes, what is seen first included."""
    envs = QueuePriorityVector(COUNT, pool=pool, copy=False)
    times = []
    for seed in range(ROUNDS):
        windows = np.random.default_rng(seed).integers(len(pool), size=COUNT)
        began = time.perf_counter()
        envs.reset(options={"window": windows})
        times.append(time.perf_counter() - began)
    return 1e6 * statistics.median(times) / COUNT


def step_time(pool: Pool, count: int | None) -> float:
    """Microseconds of a step: the median, of one environment (None) or of several together.

    What is seen is copied, as Gymnasium does it, and so is it here.
    """
    random = np.random.default_rng(0)
    env: Any = QueuePriority(pool=pool) if count is None else QueuePriorityVector(count, pool=pool)
    seen, _ = env.reset(seed=0)
    times = []
    for _ in range(SINGLE_STEPS):
        actions = random_actions(np.atleast_2d(seen["mask"]), random)
        began = time.perf_counter()
        seen, _, over, _, _ = env.step(actions[0] if count is None else actions)
        times.append(time.perf_counter() - began)
        if count is None and over:
            seen, _ = env.reset()
    return 1e6 * statistics.median(times)


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
    alone, together = (round(step_time(pool, count), 1) for count in (None, TOGETHER))
    say(f"a step of one environment takes {alone} µs, of {TOGETHER} together {together} µs")
    return {
        "environments": COUNT,
        "batch": rows,
        "reset_microseconds": reset,
        "single_step_microseconds": alone,
        f"step_of_{TOGETHER}_microseconds": together,
        "peers": show_peers(ENVIRONMENTS, "decisions/s", say),
    }


if __name__ == "__main__":
    print(json.dumps(run(), indent=2))
