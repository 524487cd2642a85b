"""Many environments in one call go exactly as single ones do, by Gymnasium's own rules."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers.vector import RecordEpisodeStatistics

from dovetail.domain.errors import ConfigError
from dovetail.envs import (
    QUEUE_PRIORITY,
    FlatObservation,
    InvalidAction,
    QueuePriority,
    QueuePriorityVector,
)
from tests.envs.scenes import random_valid, small_pool


def assert_same(ours: Any, theirs: Any, where: str = "") -> None:
    """Equal down to the last array; dicts have the same keys."""
    if isinstance(ours, dict):
        assert ours.keys() == theirs.keys(), where
        for name in ours:
            assert_same(ours[name], theirs[name], f"{where}/{name}")
    elif isinstance(ours, tuple) or (isinstance(ours, np.ndarray) and ours.dtype == object):
        for one, other in zip(ours, theirs, strict=True):
            assert_same(one, other, where)
    else:
        np.testing.assert_array_equal(ours, theirs, where)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_vector_goes_step_by_step_as_gymnasiums_own_over_single_environments(
    threads: int,
) -> None:
    pool, count = small_pool("saf"), 3
    ours = QueuePriorityVector(count, pool=pool, threads=threads)
    theirs = SyncVectorEnv(
        [lambda: QueuePriority(pool=pool)] * count, autoreset_mode=AutoresetMode.SAME_STEP
    )
    found: Any = ours.reset(seed=5)
    expected: Any = theirs.reset(seed=5)
    assert_same(found, expected)
    ended = 0
    for number in range(400):
        actions = random_valid(found[0]["mask"], number)
        found, expected = ours.step(actions), theirs.step(actions)
        assert_same(found, expected)
        ended += int(found[2].sum())
    assert ended > 3
    assert ours.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    assert ours.observation_space == theirs.observation_space
    ours.close()
    theirs.close()


def test_what_was_returned_stays_as_it_was_unless_that_is_not_wanted() -> None:
    kept, shared = (QueuePriorityVector(2, pool=small_pool(), copy=copy) for copy in (True, False))
    for envs, stays in ((kept, True), (shared, False)):
        seen, _ = envs.reset(seed=0)
        before = {name: part.copy() for name, part in seen.items()}
        envs.step([0, 0])
        same = all(np.array_equal(seen[name], before[name]) for name in seen)
        assert same is stays


def test_a_vector_is_made_by_name() -> None:
    envs: Any = gymnasium.make_vec(
        QUEUE_PRIORITY, num_envs=3, vectorization_mode="vector_entry_point", pool=small_pool()
    )
    assert isinstance(envs.unwrapped, QueuePriorityVector)
    seen, _ = envs.reset(seed=[4, 5, 6])
    assert seen["jobs"].shape[0] == 3


def test_a_loop_that_knows_gymnasium_only_counts_whole_episodes() -> None:
    envs: Any = gymnasium.make_vec(
        QUEUE_PRIORITY, num_envs=4, vectorization_mode="vector_entry_point", pool=small_pool(),
        illegal_actions="wait",
    )  # fmt: skip
    envs = RecordEpisodeStatistics(FlatObservation(envs))
    seen, _ = envs.reset(seed=1)
    assert seen.shape == (4, *envs.single_observation_space.shape)
    random, returns = np.random.default_rng(0), []
    for _ in range(600):
        actions = random.integers(envs.single_action_space.n, size=4)
        seen, _, terminations, truncations, infos = envs.step(actions)
        assert not truncations.any()
        if "episode" in infos:
            lasts = [seen.shape for seen in infos["final_obs"][terminations]]
            assert set(lasts) == {envs.single_observation_space.shape}
            assert np.array_equal(infos["_episode"], terminations)
            returns += infos["episode"]["r"][terminations].tolist()
    assert len(returns) > 4
    assert np.all(np.abs(returns) <= 1.0)


def test_flat_observations_are_what_gymnasium_would_make_of_them() -> None:
    envs = QueuePriorityVector(2, pool=small_pool())
    flat = FlatObservation(QueuePriorityVector(2, pool=small_pool()))
    space, (seen, _) = envs.single_observation_space, envs.reset(seed=3)
    row, _ = flat.reset(seed=3)
    for i in range(2):
        one = gymnasium.spaces.flatten(space, {name: part[i] for name, part in seen.items()})
        np.testing.assert_array_equal(row[i], one)
    assert flat.single_observation_space == gymnasium.spaces.flatten_space(space)


def test_illegal_actions_are_refused_with_the_place_and_the_remedy() -> None:
    envs = QueuePriorityVector(2, pool=small_pool())
    with pytest.raises(gymnasium.error.ResetNeeded, match="reset"):
        envs.step([0, 0])
    seen, _ = envs.reset(seed=0)
    with pytest.raises(InvalidAction, match=r'environment 1.*illegal_actions="wait"'):
        envs.step([0, int(seen["mask"][1, :256].sum())])
    for wrong in ([0], 0, [[0, 0]]):
        with pytest.raises(InvalidAction, match="shape"):
            envs.step(wrong)


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(ConfigError, match="threads"):
        QueuePriorityVector(1, threads=2, pool=small_pool())
    with pytest.raises(ConfigError, match="expected one of error, wait"):
        QueuePriorityVector(1, pool=small_pool(), illegal_actions="ignore")
    envs = QueuePriorityVector(2, pool=small_pool())
    with pytest.raises(ValueError, match="3 seeds for 2"):
        envs.reset(seed=[1, 2, 3])
    with pytest.raises(ConfigError, match="expected 0 to 3"):
        envs.reset(options={"window": [0, 4]})
