"""The single environment: Gymnasium's rules, masks, rewards, what is shown."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from dovetail.domain.errors import ConfigError, UnknownName
from dovetail.domain.limits import Each, Limit
from dovetail.envs import (
    QUEUE_PRIORITY,
    InvalidAction,
    QueuePriority,
    QueuePriorityConfig,
    SyntheticWindows,
)
from dovetail.envs.batch_kernel import DECLINE
from dovetail.envs.reward import gap
from dovetail.envs.visible_jobs import SHOWN
from dovetail.policies.ordering import ORDERINGS
from tests.builders import cluster_of, job
from tests.envs.scenes import pool_of, random_valid, small_pool

BLOCKER = job(submit=0, run=100, gpus=8)
"""Takes the whole of a node of 8 GPUs until 100."""


def play(env: QueuePriority, pick: Any, **options: Any) -> tuple[float, dict[str, Any], int]:
    """EpisodeRules an episode; returns the reward, the last info and the number of decisions."""
    seen, info = env.reset(**options)
    reward, over, steps = 0.0, False, 0
    while not over:
        seen, reward, over, _, info = env.step(pick(seen["mask"], steps))
        steps += 1
    return reward, info, steps


def test_gymnasiums_checker_has_nothing_to_say() -> None:
    env = gymnasium.make(QUEUE_PRIORITY, pool=small_pool())
    check_env(env.unwrapped)


def test_doing_as_the_base_does_is_worth_nothing() -> None:
    for order in ("fcfs", "saf", "wfp3", "qssf"):
        for metric in ("bsld", "wait", "jct", "utilisation"):
            env = QueuePriority(pool=small_pool(order, metric))
            reward, info, steps = play(env, lambda mask, step: 0, seed=0)
            assert steps > 1
            assert (reward, info["score"]) == (0.0, info["base"])


def test_the_reward_is_the_gap_between_the_base_and_ours() -> None:
    # At 100 a long and a short job wait for the whole node. The base takes the long one first
    # and they wait 99 and 100 + 1000 - 2 s; the other way round 99 + 10 and 98 s.
    rows = BLOCKER, job(submit=1, run=1000, gpus=8), job(submit=2, run=10, gpus=8)
    env = QueuePriority(pool=pool_of("1x8", *rows, metric="wait"))
    base, ours = (0 + 99 + 1098) / 3, (0 + 109 + 98) / 3
    assert play(env, lambda mask, step: 0) == (0.0, {"window": 0, "score": base, "base": base}, 1)
    reward, info, _ = play(env, lambda mask, step: 1)
    assert info["score"] == pytest.approx(ours)
    assert reward == pytest.approx((base - ours) / base)


@pytest.mark.parametrize(
    ("metric", "base", "ours"),
    [
        ("bsld", (1 + 1099 / 1000 + 1108 / 10) / 3, (1 + 1109 / 1000 + 108 / 10) / 3),
        ("jct", (100 + 1099 + 1108) / 3, (100 + 1109 + 108) / 3),
    ],
)
def test_metrics_by_hand(metric: str, base: float, ours: float) -> None:
    rows = BLOCKER, job(submit=1, run=1000, gpus=8), job(submit=2, run=10, gpus=8)
    env = QueuePriority(pool=pool_of("1x8", *rows, metric=metric))
    _, info, _ = play(env, lambda mask, step: 1)
    assert info["base"] == pytest.approx(base)
    assert info["score"] == pytest.approx(ours)


def test_utilisation_by_hand() -> None:
    # The long job first and both short ones beside it fill the node until 300; last, it runs
    # on half of it until 400.
    rows = BLOCKER, job(1, 200, 4), job(2, 100, 4), job(3, 100, 4)
    env = QueuePriority(pool=pool_of("1x8", *rows, metric="utilisation"))
    reward, info, _ = play(env, lambda mask, step: int(mask[:SHOWN].sum()) - 1)
    assert (info["base"], info["score"], reward) == (0.0, 25.0, -1.0)


def test_the_gap_lies_between_minus_one_and_one() -> None:
    assert gap(100.0, 50.0) == 0.5
    assert gap(50.0, 100.0) == -0.5
    assert gap(0.5, 0.0) == 0.5  # scores below 1 are not blown up
    assert gap(0.0, 0.0) == 0.0


def test_a_masked_action_is_refused_in_words() -> None:
    env = QueuePriority(pool=small_pool())
    seen, _ = env.reset(seed=0)
    shown = int(seen["mask"][:SHOWN].sum())
    assert np.array_equal(env.action_masks(), seen["mask"].astype(bool))
    with pytest.raises(InvalidAction, match=f"expected 0 to {shown - 1}"):
        env.step(np.int64(shown))
    with pytest.raises(InvalidAction, match="declines to backfill"):
        env.step(np.int64(DECLINE))
    with pytest.raises(InvalidAction, match="names no job"):
        env.step(np.int64(-1))


def test_an_episode_that_is_over_wants_a_reset() -> None:
    env = QueuePriority(pool=small_pool())
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(np.int64(0))


def test_declining_is_valid_once_a_job_holds_a_reservation_and_keeps_later_jobs_back() -> None:
    # 4 GPUs are free from 10 on; the job of 8 is chosen and reserves, two small ones could pass.
    rows = (
        job(submit=0, run=10, gpus=4), job(submit=0.5, run=100, gpus=4),
        job(submit=1, run=10, gpus=8), job(submit=1, run=20, gpus=4), job(submit=1, run=30, gpus=4),
    )  # fmt: skip
    pool = pool_of("1x8", *rows)
    env = QueuePriority(pool=pool)
    seen, _ = env.reset()
    assert seen["mask"][:4].tolist() == [1, 1, 1, 0]
    assert seen["mask"][DECLINE] == 0
    seen, *_ = env.step(np.int64(0))
    assert seen["mask"][:3].tolist() == [1, 1, 0]
    assert seen["mask"][DECLINE] == 1
    _, _, over, _, info = env.step(np.int64(DECLINE))
    while not over:
        _, _, over, _, info = env.step(np.int64(0))
    # The job of 8 starts at 100.5, and only then both small ones.
    assert info["score"] == pytest.approx((0 + 0 + 99.5 + 109.5 + 109.5) / 5)
    assert info["base"] == pytest.approx((0 + 0 + 99.5 + 9 + 29) / 5)


def test_partitions_never_block_each_other() -> None:
    # In a, one job reserves; b's jobs are still to be chosen freely, and declining leaves them.
    cluster = cluster_of("1x8,1x8", partitions={"a": [0], "b": [1]})
    rows = (
        job(0, 10, 4, partition="a"), job(0.25, 9.75, 8, partition="b"),
        job(0.5, 100, 4, partition="a"),
        job(1, 10, 8, partition="a"), job(2, 20, 4, partition="a"), job(3, 30, 4, partition="a"),
        job(4, 50, 8, partition="b"), job(5, 5, 8, partition="b"),
    )  # fmt: skip
    env = QueuePriority(pool=pool_of(cluster, *rows))
    seen, _ = env.reset()
    assert seen["mask"].sum() == 5
    seen, *_ = env.step(np.int64(0))
    assert (seen["mask"].sum(), seen["mask"][DECLINE]) == (5, 1)
    seen, *_ = env.step(np.int64(DECLINE))
    assert (seen["mask"].sum(), seen["mask"][DECLINE]) == (2, 0)
    assert env._one.stage.rows[0, :2].tolist() == [6, 7]


def test_of_a_longer_queue_the_oldest_the_newest_and_the_best_are_shown() -> None:
    count = 400
    rows = [job(submit=1 + i, run=10 + abs(i - 300), gpus=8) for i in range(count)]
    pool = pool_of("1x8", job(submit=0, run=1000, gpus=8), *rows, order="sjf")
    env = QueuePriority(pool=pool)
    env.reset()
    shown = env._one.stage.rows[0]
    old, new = set(range(1, 65)), set(range(count - 63, count + 1))
    best = set(sorted(set(range(1, count + 1)) - old - new, key=lambda row: abs(row - 301))[:128])
    assert set(shown.tolist()) == old | new | best
    assert shown[0] == 301  # in the base's order
    assert env.action_masks().sum() == SHOWN
    seen_rows: set[int] = set()
    over = False
    while not over:
        seen_rows |= set(shown[: int(env.action_masks()[:SHOWN].sum())].tolist())
        over = env.step(np.int64(0))[2]
    assert len(seen_rows) >= count - 1  # sooner or later everyone could have been chosen


def test_everything_seen_lies_in_the_observation_space() -> None:
    env = QueuePriority(pool=small_pool("saf"))
    seen, _ = env.reset(seed=1)
    low, high = np.full(8, np.inf), np.full(8, -np.inf)
    for step in range(300):
        assert env.observation_space.contains(seen)
        shown = int(seen["mask"][:SHOWN].sum())
        assert shown >= 2
        assert not seen["jobs"][shown:].any()
        assert not seen["critic"][shown:].any()
        low = np.minimum(low, seen["jobs"][:shown].min(axis=0))
        high = np.maximum(high, seen["jobs"][:shown].max(axis=0))
        seen, _, over, _, _ = env.step(random_valid(seen["mask"][None], step)[0])
        if over:
            seen, _ = env.reset()
    assert np.all(high > low)  # no slot is constant


def test_the_same_seed_gives_the_same_episode() -> None:
    def told(env: QueuePriority) -> list[Any]:
        return [
            play(env, lambda mask, step: random_valid(mask[None], step)[0], seed=7)
            for _ in range(2)
        ]

    assert told(QueuePriority(pool=small_pool())) == told(QueuePriority(pool=small_pool()))
    config = small_pool().config
    again = QueuePriority(config)  # a pool of its own
    assert told(again) == told(QueuePriority(pool=small_pool()))


def test_windows_without_a_choice_that_matters_are_refused() -> None:
    with pytest.raises(ConfigError, match="a choice that matters"):
        pool_of("4x8", job(0), job(1), job(2))


def test_a_site_with_limits_or_tiers_is_refused_rather_than_misjudged() -> None:
    limited = replace(cluster_of("1x8"), limits=(Limit(each=Each.USER, jobs=1.0),))
    with pytest.raises(ConfigError, match="neither limits nor tiers"):
        pool_of(limited, job(0), job(1))


def test_a_base_that_predicts_run_times_knows_what_the_whole_history_told_it() -> None:
    episode = next(
        SyntheticWindows(jobs=2000).episodes(ORDERINGS["qssf"], np.random.default_rng(0))
    )
    assert np.all(episode.predicted > 0)
    assert len(np.unique(episode.predicted)) > 50


def test_an_unknown_order_is_answered_with_the_known_ones() -> None:
    with pytest.raises(UnknownName, match="did you mean"):
        QueuePriorityConfig(order="qsfs")
