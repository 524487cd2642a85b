"""Rewards, masks and turns of the two agents, against plain Python and examples worked by hand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from dovetail.domain.errors import ConfigError, UnknownName
from dovetail.domain.metrics import bounded_slowdown
from dovetail.domain.node_classes import CLASSES, NodeClassFacts
from dovetail.domain.policy import Backfill
from dovetail.envs.renderers import table_of
from dovetail.envs.selector_allocator.config import SelectorAllocatorConfig
from dovetail.envs.selector_allocator.kernel import ALLOCATES, SELECTS, WAIT
from dovetail.envs.selector_allocator.pool import SelectorAllocatorPool
from dovetail.envs.selector_allocator.reward import METRIC_NAMES, RewardWeights
from dovetail.envs.selector_allocator.vector import SelectorAllocatorVector
from dovetail.policies.ordering import ORDERINGS
from dovetail.policies.placement import PLACEMENTS
from dovetail.simulator import simulate
from dovetail.simulator.kernel.rows import NodeRow
from tests.builders import JobRow, cluster_of, estimates_of, job, trace_of
from tests.envs.scenes import Written, random_valid
from tests.envs.selector_allocator.scenes import small_pair_pool
from tests.oracles.selector_allocator import (
    accrued,
    balanced,
    classes_for,
    own_runs,
    waiting_jobs,
)

EVERYTHING = RewardWeights(wait=0.4, turnaround=0.3, bsld=0.2, utilisation=0.1)


def written(cluster: str, *rows: JobRow, **settings: Any) -> SelectorAllocatorPool:
    source = Written(cluster_of(cluster), rows)
    return SelectorAllocatorPool(SelectorAllocatorConfig(source, pool=1, **settings))


def steps(envs: SelectorAllocatorVector, seen: Any, count: int) -> Iterator[tuple[Any, ...]]:
    for number in range(count):
        seen, rewards, ends, _, infos = envs.step(random_valid(seen["mask"], number))
        yield seen, float(rewards[0]), bool(ends[0]), infos


def test_what_passes_beyond_the_base_pair_is_charged_when_it_passes() -> None:
    pool = small_pair_pool(weights=EVERYTHING)
    envs, weights = SelectorAllocatorVector(1, pool=pool), EVERYTHING.numbers()
    seen, _ = envs.reset(seed=1)
    total, charged, ended = 0.0, np.zeros(4), 0
    for _, reward, over, infos in steps(envs, seen, 3000):
        total += reward
        stage = envs.batch.stage
        if over:
            final = infos["final_info"]
            ours = np.array([final[name][0] for name in METRIC_NAMES])
            base = np.array([final[f"base_{name}"][0] for name in METRIC_NAMES])
            assert total == pytest.approx(float(weights @ (1 - ours / np.maximum(base, 1))))
            total, charged, ended = 0.0, np.zeros(4), ended + 1
            if ended == 3:
                break
            continue
        window = int(stage.playing[0])
        world, first = stage.worlds[0], int(pool.base_first[window])
        about = int(pool.windows.carried[window]), float(pool.windows.begin[window]), 44
        theirs = pool.base_runs[first : first + int(world["job_count"])]
        passed = np.array(accrued(world, own_runs(world), *about))
        passed = passed - np.array(accrued(world, theirs, *about))
        share = (passed - charged) / np.maximum(pool.base[window], 1)
        assert reward == pytest.approx(-float(weights @ share), abs=1e-9)
        charged = passed
    assert ended == 3


@pytest.mark.parametrize("order", ["fcfs", "saf", "wfp3"])
@pytest.mark.parametrize("placement", ["best-fit", "first-available", "worst-fit"])
def test_action_0_is_the_base_pair_whose_metrics_are_those_of_its_schedule(
    order: str, placement: str
) -> None:
    rows = [job(submit=7.0 * i, run=60.0 + 31 * (i % 5), gpus=1 + i * i % 9) for i in range(40)]
    pool = written("2x8:a,2x4:b", *rows, order=order, placement=placement)
    envs = SelectorAllocatorVector(1, pool=pool)
    envs.reset(seed=0)
    over, infos, turns = False, dict[str, Any](), set[int]()
    while not over:
        turns.add(int(envs.batch.turn[0]))
        _, _, ends, _, infos = envs.step(np.zeros(1, np.int64))
        over = bool(ends[0])
    trace = trace_of(*rows)
    found = simulate(
        trace, cluster_of("2x8:a,2x4:b"), ORDERINGS[order], PLACEMENTS[placement],
        Backfill.EASY, estimates_of(*rows),
    )  # fmt: skip
    final = infos["final_info"]
    assert turns == {SELECTS, ALLOCATES}
    assert final["wait"][0] == pytest.approx(found.wait.mean(), rel=1e-12)
    assert final["turnaround"][0] == pytest.approx((found.wait + found.run).mean(), rel=1e-12)
    slow = bounded_slowdown(found.wait, found.run).mean()
    assert final["bsld"][0] == final["base_bsld"][0] == pytest.approx(slow, rel=1e-12)
    busy = (trace.jobs.gpus * found.run).sum() / (24 * found.end.max())
    assert final["utilisation"][0] == pytest.approx(100 * (1 - busy), rel=1e-9)


def test_masks_let_through_what_the_plain_rules_allow_and_nothing_is_given_twice() -> None:
    envs = SelectorAllocatorVector(1, pool=small_pair_pool())
    begun, _ = envs.reset(seed=5)
    jobs_seen = nodes_seen = 0
    for seen, _, _, _ in steps(envs, begun, 1500):
        batch, world = envs.batch, envs.batch.stage.worlds[0]
        assert balanced(world)
        if world["reservation_count"] > 0:
            continue
        mask = seen["mask"][0]
        if batch.turn[0] == SELECTS:
            assert int(mask[:WAIT].sum()) == waiting_jobs(world)
            jobs_seen += 1
            continue
        count = int(batch.pair.class_count[0])
        facts = table_of(world, "node_classes", NodeClassFacts, "class_count")[:count]
        assert count == int(mask.sum()) <= CLASSES
        assert mask[WAIT] == 0
        kinds = _kinds_of(world, facts)
        used = _picked(world, int(batch.pair.picked[0]))
        plain = classes_for(world, int(facts["chunk_gpus"][0]), kinds, used)
        assert set(zip(kinds, facts["free_gpus"].tolist(), strict=True)) == plain
        nodes_seen += 1
    assert jobs_seen > 50
    assert nodes_seen > 15


def _kinds_of(world: Any, facts: Any) -> list[int]:
    nodes = table_of(world, "nodes", NodeRow, "node_count")
    found: list[int] = nodes["kind"][facts["node"]].tolist()
    return found


def _picked(world: Any, count: int) -> list[int]:
    found: list[int] = table_of(world, "nodes", NodeRow, "node_count")["picked"][:count].tolist()
    return found


def test_waiting_lets_the_next_event_come_and_starts_nothing() -> None:
    """One of two GPUs is busy until 100 s: waiting brings the second job there, too."""
    rows = (
        job(submit=0.0, run=100.0, gpus=1),
        job(submit=10.0, run=50.0, gpus=1),
        job(submit=11.0, run=50.0, gpus=2),
    )
    envs = SelectorAllocatorVector(1, pool=written("1x2", *rows, order="fcfs"))
    seen, _ = envs.reset(seed=0)
    assert (
        float(envs.batch.stage.worlds[0]["now"]) == 10.0
    )  # job 0 on an idle cluster was no choice
    seen, *_ = envs.step(np.array([WAIT]))
    assert float(envs.batch.stage.worlds[0]["now"]) == 11.0
    assert int(seen["mask"][0][:WAIT].sum()) == 2
    seen, *_ = envs.step(np.array([WAIT]))
    assert float(envs.batch.stage.worlds[0]["now"]) == 100.0


def test_a_half_that_is_not_asked_leaves_its_choices_to_the_base_pair() -> None:
    for asked, turn in ((("selector",), SELECTS), (("allocator",), ALLOCATES)):
        envs = SelectorAllocatorVector(1, pool=small_pair_pool(asked=asked))
        seen, _ = envs.reset(seed=2)
        turns = {int(envs.batch.turn[0]) for _ in steps(envs, seen, 200)}
        assert turns == {turn}


def test_the_same_seed_plays_the_same_episodes() -> None:
    pool = small_pair_pool()

    def played() -> list[float]:
        envs = SelectorAllocatorVector(1, pool=pool)
        seen, _ = envs.reset(seed=9)
        return [reward for _, reward, _, _ in steps(envs, seen, 300)]

    assert played() == played()


@pytest.mark.parametrize(
    "wrong",
    [{"pool": 0}, {"seed": -1}, {"asked": ()}, {"asked": ("driver",)}, {"placement": "milp"}],
)
def test_settings_that_make_no_sense_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=r"expected|plans"):
        SelectorAllocatorConfig(**wrong)


def test_unknown_names_and_weights_without_sense_are_refused() -> None:
    with pytest.raises(UnknownName, match="did you mean 'saf'"):
        SelectorAllocatorConfig(order="saff")
    with pytest.raises(ConfigError, match="nothing to learn"):
        RewardWeights(0, 0, 0, 0)
    with pytest.raises(ConfigError, match="0 or more"):
        RewardWeights(wait=-1)


def test_windows_in_which_a_half_has_nothing_to_decide_are_not_drawn() -> None:
    pool = small_pair_pool(asked=("allocator",))
    envs = SelectorAllocatorVector(2, pool=pool)
    envs.reset(seed=0)
    assert pool.playable is not None
    assert pool.playable.tolist() == list(range(len(pool)))
    pool.playable = np.array([1])
    envs.reset(seed=0)
    assert envs.batch.running()["window"].tolist() == [1, 1]


def test_a_history_without_anything_to_decide_is_refused_in_words() -> None:
    rows = [JobRow(0.0, 10.0, 1), JobRow(0.0, 10.0, 1)]
    envs = SelectorAllocatorVector(1, pool=written("1x1", *rows, asked=("allocator",), calm=0.0))
    with pytest.raises(ConfigError, match="no window has anything to decide for allocator"):
        envs.reset(seed=0)
