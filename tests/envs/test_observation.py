"""What is written of jobs: the usual selection straight from facts, as its table says."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dovetail.compiled.functions import kernel
from dovetail.compiled.tables import new_table
from dovetail.envs import Pool, QueuePriorityVector, SyntheticWindows
from dovetail.envs.observation import OBSERVATIONS, SITUATIONAL, LastingFacts, note_lasting
from dovetail.policies.features import FEATURES
from tests.envs.scenes import random_valid, small_pool
from tests.policies.test_learned_ordering import tables


@kernel
def write(
    function: Any, jobs: Any, lasting: Any, accounts: Any, demands: Any, cluster: Any,
    table: Any, asked: Any, rows: Any, seen: Any, out: Any, critic: Any,
) -> None:  # fmt: skip
    function(jobs, lasting, accounts, demands, cluster, table, asked, rows, seen, out, critic)


@pytest.mark.parametrize("fragmentation", [0.2, 0.8])
def test_the_usual_observation_is_what_its_selection_says(fragmentation: float) -> None:
    by_table = replace(SITUATIONAL, write=OBSERVATIONS["all"].write)
    assert by_table.write is not SITUATIONAL.write
    jobs, accounts, demands, cluster = tables(np.random.default_rng(5), 200)
    jobs["size"] = jobs["gpus"]
    cluster["fragmentation"] = fragmentation
    demands["ways"] = [0, 1, 2, 5]  # both situations
    found = []
    for look in (SITUATIONAL, by_table):
        seen, out = np.zeros((len(FEATURES), 200)), np.zeros((200, look.width), np.float32)
        critic = np.zeros((200, look.critic_width), np.float32)
        rows = np.arange(200)[::-1].copy()
        table = look.selection.table()
        lasting = new_table(LastingFacts, len(jobs))
        note_lasting(jobs, cluster, lasting)
        asked = np.arange(len(demands))
        write(
            look.write.pointer, jobs, lasting, accounts, demands, cluster, table, asked, rows,
            seen, out, critic,
        )  # fmt: skip
        found.append((out, critic))
    assert np.array_equal(found[0][0], found[1][0])
    assert np.array_equal(found[0][1], found[1][1])
    assert len(np.unique(found[0][0], axis=0)) > 100


def test_compiled_too_both_ways_to_write_give_the_same() -> None:
    pool = small_pool()
    config = replace(pool.config, observation=replace(SITUATIONAL, write=OBSERVATIONS["all"].write))
    ours, other = (QueuePriorityVector(3, pool=each) for each in (pool, Pool(config)))
    (seen, _), (same, _) = ours.reset(seed=3), other.reset(seed=3)
    for step in range(150):
        for name, part in seen.items():
            assert np.array_equal(part, same[name]), name
        actions = random_valid(seen["mask"], step)
        seen, same = ours.step(actions)[0], other.step(actions)[0]


def test_playing_changes_nothing_in_the_pool_that_environments_share() -> None:
    pool = small_pool("saf")
    before = [part.copy() for part in pool.windows]
    envs = QueuePriorityVector(4, pool=pool)
    seen, ended = envs.reset(seed=0)[0], 0
    for step in range(200):
        seen, _, dones, _, _ = envs.step(random_valid(seen["mask"], step))
        ended += int(dones.sum())
    assert ended > 0
    for old, new in zip(before, pool.windows, strict=True):
        assert np.array_equal(old, new)


def test_an_agent_may_be_told_how_sure_predictions_are_and_when_gpus_come_free() -> None:
    pool = small_pool()
    source = SyntheticWindows(
        cluster="8x8", jobs=1500, load=1.1, length=64, estimates="predicted:history"
    )
    asked = replace(pool.config, windows=source)
    usual, more = (
        QueuePriorityVector(3, pool=Pool(replace(asked, observation=OBSERVATIONS[name])))
        for name in ("sampled", "forecast")
    )
    (seen, _), (told, _) = usual.reset(seed=3), more.reset(seed=3)
    columns: list[Any] = []
    for step in range(100):
        shown = seen["mask"][:, :-1] > 0
        assert np.array_equal(seen["jobs"], told["jobs"][:, :, :8])
        assert np.array_equal(seen["critic"], told["critic"])
        columns.append(told["jobs"][shown][:, 8:])
        actions = random_valid(seen["mask"], step)
        seen, told = usual.step(actions)[0], more.step(actions)[0]
    found = np.concatenate(columns)
    assert np.all(found.std(axis=0) > 0.0)
    assert np.all(found[:, 0] >= 0.0)
    assert np.all(found[:, 3:].max(axis=0) > 0.1)
