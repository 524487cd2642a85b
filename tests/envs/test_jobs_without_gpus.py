"""Environments replay jobs without GPUs beside the others, on nodes with and without GPUs."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest

from dovetail.domain.cluster import Cluster, Node
from dovetail.domain.metrics import bounded_slowdown, summary
from dovetail.domain.policy import Backfill
from dovetail.domain.schedule import Schedule
from dovetail.domain.trace import Trace
from dovetail.envs import Pool, QueuePriority, QueuePriorityConfig, QueuePriorityVector
from dovetail.envs.selector_allocator.config import SelectorAllocatorConfig
from dovetail.envs.selector_allocator.kernel import ALLOCATES, SELECTS
from dovetail.envs.selector_allocator.pool import SelectorAllocatorPool
from dovetail.envs.selector_allocator.vector import SelectorAllocatorVector
from dovetail.envs.windows import TraceWindows
from dovetail.policies.ordering import ORDERINGS
from dovetail.policies.placement import PLACEMENTS
from dovetail.prediction.estimates import make_estimates
from dovetail.simulator import simulate, simulate_window, warm_window
from tests.builders import JobRow, estimates_of, job, trace_of
from tests.envs.scenes import Written, pool_of, random_valid
from tests.oracles.selector_allocator import balanced

GPU_NODES = tuple(Node(f"gpu{i}", 4, "a100", cpus=16.0, memory_gb=64.0) for i in range(2))
SITE = Cluster((*GPU_NODES, Node("cpu0", 0, cpus=24.0, memory_gb=64.0)))


def mixed(count: int, seed: int = 0) -> tuple[JobRow, ...]:
    """More than the site can run at once; every other job asks for CPUs only."""
    random = Random(seed)
    rows = []
    for number in range(count):
        gpus = random.choice((0, 0, 0, 1, 2, 4, 8))
        wide = gpus == 0 and random.random() < 0.2
        rows.append(
            job(
                submit=9.0 * number,
                run=30.0 + 41 * random.randrange(9),
                gpus=gpus,
                cpus=random.choice((1.0, 2.0, 7.0, 12.0)) * (2 if wide else 1),
                memory=random.choice((0.0, 4.0, 20.0)),
                nodes=2 if wide else 0,
            )
        )
    return tuple(rows)


ROWS = mixed(48)


def straight(rows: tuple[JobRow, ...], order: str, placement: str = "best-fit") -> Schedule:
    return simulate(
        trace_of(*rows), SITE, ORDERINGS[order], PLACEMENTS[placement], Backfill.EASY,
        estimates_of(*rows),
    )  # fmt: skip


def measured(schedule: Schedule, metric: str) -> float:
    found = summary(schedule)
    names = {"bsld": "bsld_mean", "wait": "wait_mean", "jct": "jct_mean"}
    return float(found[names[metric]])


def rollout(env: QueuePriority, pick: Any) -> dict[str, Any]:
    seen, info = env.reset(seed=0)
    over = False
    while not over:
        assert env.observation_space.contains(seen)
        assert all(np.isfinite(part).all() for part in seen.values())
        seen, _, over, _, info = env.step(pick(seen["mask"]))
    return info


@pytest.mark.parametrize("order", ["fcfs", "saf", "wfp3"])
@pytest.mark.parametrize("metric", ["bsld", "wait", "jct"])
def test_doing_as_the_base_does_scores_as_the_simulator(order: str, metric: str) -> None:
    env = QueuePriority(pool=pool_of(SITE, *ROWS, metric=metric, order=order))
    info = rollout(env, lambda mask: 0)
    assert info["score"] == info["base"]
    assert info["score"] == pytest.approx(measured(straight(ROWS, order), metric), rel=1e-9)


@pytest.mark.parametrize("metric", ["bsld", "utilisation"])
def test_any_valid_choices_bring_an_episode_to_its_end(metric: str) -> None:
    env = QueuePriority(pool=pool_of(SITE, *ROWS, metric=metric))
    numbers = iter(range(10_000))
    info = rollout(env, lambda mask: random_valid(mask[None], next(numbers))[0])
    assert np.isfinite(info["score"])


def test_an_agent_decides_when_jobs_without_gpus_run() -> None:
    """The long job first, as the base has it, or the short one: both want all of the CPUs."""
    rows = (
        job(submit=0, run=100, gpus=0, cpus=24.0),
        job(submit=0, run=100, gpus=4, cpus=16.0),
        job(submit=0, run=100, gpus=4, cpus=16.0),
        job(submit=1, run=1000, gpus=0, cpus=24.0),
        job(submit=2, run=10, gpus=0, cpus=24.0),
    )
    env = QueuePriority(pool=pool_of(SITE, *rows, metric="wait"))
    base, ours = (99 + 1098) / 5, (109 + 98) / 5
    assert rollout(env, lambda mask: 0)["score"] == pytest.approx(base)
    assert rollout(env, lambda mask: 1)["score"] == pytest.approx(ours)


def history(jobs: int = 260) -> Trace:
    return trace_of(*mixed(jobs, seed=7))


def test_windows_of_a_history_begin_with_what_runs_and_score_as_the_simulator() -> None:
    trace = history()
    source = TraceWindows(trace, SITE, length=40, estimates="exact")
    pool = Pool(QueuePriorityConfig(source, order="fcfs", metric="wait", pool=3))
    envs = QueuePriorityVector(3, pool=pool)
    envs.reset(seed=0)
    told = make_estimates(trace, "exact")
    whole = simulate(trace, SITE, ORDERINGS["fcfs"], PLACEMENTS["best-fit"], Backfill.EASY, told)
    scores = set()
    for first in range(len(trace) - 40 + 1):
        window = warm_window(whole, first, 40)
        schedule = simulate_window(
            window, SITE, ORDERINGS["fcfs"], PLACEMENTS["best-fit"], Backfill.EASY,
            told.take(window.rows),
        )  # fmt: skip
        scores.add(round(float(schedule.wait[window.carried :].mean()), 6))
    assert (pool.windows.carried > 0).any()
    assert {round(float(score), 6) for score in pool.windows.base} <= scores


def pairs(order: str, placement: str) -> SelectorAllocatorPool:
    config = SelectorAllocatorConfig(Written(SITE, ROWS), pool=1, order=order, placement=placement)
    return SelectorAllocatorPool(config)


@pytest.mark.parametrize("order", ["fcfs", "saf", "wfp3"])
@pytest.mark.parametrize("placement", ["best-fit", "first-available", "worst-fit"])
def test_action_0_of_two_agents_gives_the_schedule_of_the_simulator(
    order: str, placement: str
) -> None:
    envs = SelectorAllocatorVector(1, pool=pairs(order, placement))
    envs.reset(seed=0)
    over, infos, turns = False, dict[str, Any](), set[int]()
    while not over:
        turns.add(int(envs.batch.turn[0]))
        _, _, ends, _, infos = envs.step(np.zeros(1, np.int64))
        over = bool(ends[0])
    found, final = straight(ROWS, order, placement), infos["final_info"]
    assert turns == {SELECTS, ALLOCATES}
    assert final["wait"][0] == pytest.approx(found.wait.mean(), rel=1e-12)
    assert final["turnaround"][0] == pytest.approx((found.wait + found.run).mean(), rel=1e-12)
    slow = bounded_slowdown(found.wait, found.run).mean()
    assert final["bsld"][0] == final["base_bsld"][0] == pytest.approx(slow, rel=1e-12)


def test_two_agents_may_choose_whatever_the_masks_let_through() -> None:
    envs = SelectorAllocatorVector(1, pool=pairs("fcfs", "best-fit"))
    seen, _ = envs.reset(seed=0)
    ended = 0
    for number in range(1500):
        assert balanced(envs.batch.stage.worlds[0])
        assert all(np.isfinite(part).all() for part in seen.values())
        seen, _, ends, _, _ = envs.step(random_valid(seen["mask"], number))
        ended += int(ends[0])
    assert ended > 2


def test_pictures_show_nodes_without_gpus() -> None:
    pool = pool_of(SITE, *ROWS)
    for mode in ("ansi", "rgb_array"):
        env = QueuePriority(pool=pool, render_mode=mode)
        env.reset(seed=0)
        assert env.render() is not None


@pytest.mark.parametrize("metric", ["bsld", "wait", "jct", "utilisation"])
def test_a_site_without_any_gpus_can_be_played(metric: str) -> None:
    site = Cluster(tuple(Node(f"cpu{i}", 0, cpus=16.0) for i in range(2)))
    rows = tuple(
        replace(row, gpus=0, nodes=0, memory=0.0, cpus=min(row.cpus, 12.0)) for row in ROWS
    )
    config = QueuePriorityConfig(
        Written(site, rows), metric=metric, pool=1, dense=0.5 * (metric == "wait")
    )
    info = rollout(QueuePriority(pool=Pool(config)), lambda mask: 0)
    assert info["score"] == info["base"]
    assert np.isfinite(info["score"])


def test_utilisation_is_of_cpus_where_there_are_no_gpus() -> None:
    """160 + 160 + 160 + 200 of 16 times 65 CPU seconds: the last may not pass the third."""
    site = Cluster((Node("cpu0", 0, cpus=16.0),))
    rows = (
        job(submit=0, run=10, gpus=0, cpus=16.0),
        job(submit=1, run=20, gpus=0, cpus=8.0),
        job(submit=2, run=10, gpus=0, cpus=16.0),
        job(submit=3, run=25, gpus=0, cpus=8.0),
    )
    info = rollout(QueuePriority(pool=pool_of(site, *rows, metric="utilisation")), lambda mask: 0)
    assert info["score"] == pytest.approx(100 * (1 - 680 / (16 * 65)))


def test_two_agents_are_told_of_unused_cpus_where_there_are_no_gpus() -> None:
    site = Cluster(tuple(Node(f"cpu{i}", 0, cpus=16.0) for i in range(2)))
    rows = tuple(
        replace(row, gpus=0, nodes=0, memory=0.0, cpus=min(row.cpus, 12.0)) for row in ROWS
    )
    config = SelectorAllocatorConfig(Written(site, rows), pool=1, order="fcfs")
    envs = SelectorAllocatorVector(1, pool=SelectorAllocatorPool(config))
    envs.reset(seed=0)
    over, infos = False, dict[str, Any]()
    while not over:
        _, _, ends, _, infos = envs.step(np.zeros(1, np.int64))
        over = bool(ends[0])
    found = simulate(
        trace_of(*rows), site, ORDERINGS["fcfs"], PLACEMENTS["best-fit"], Backfill.EASY,
        estimates_of(*rows),
    )  # fmt: skip
    busy = (found.trace.jobs.cpus * found.run).sum() / (32 * found.end.max())
    assert infos["final_info"]["utilisation"][0] == pytest.approx(100 * (1 - busy), rel=1e-9)
