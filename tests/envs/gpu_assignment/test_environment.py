"""Assigning jobs to GPUs: the environment keeps Gymnasium's rules and the simulator's truth."""

from __future__ import annotations

import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from hypothesis import given, settings
from hypothesis import strategies as st

import dovetail.envs  # noqa: F401 - registers
from dovetail.agents.adlro.evaluation import play_pool
from dovetail.agents.adlro.heuristics import HEURISTICS, fcfs
from dovetail.domain.errors import ConfigError
from dovetail.domain.estimates import Estimates
from dovetail.envs.batch import InvalidAction
from dovetail.envs.gpu_assignment import (
    AssignmentPool,
    GpuAssignment,
    GpuAssignmentBatch,
    GpuAssignmentConfig,
    GpuAssignmentVector,
)
from dovetail.evaluation.run import simulate

SMALL = GpuAssignmentConfig(gpus={"volta": 2, "turing": 1, "radeon": 1}, jobs=24, shown=6)


def test_gymnasiums_own_checker_finds_nothing() -> None:
    env = gymnasium.make("dovetail/GpuAssignment-v0", config=SMALL, seeds=range(3)).unwrapped
    env.action_space.seed(0)
    seen, _ = env.reset(seed=1)
    assert env.observation_space.contains(seen)
    assert isinstance(env, GpuAssignment)
    with warnings.catch_warnings():
        # Waits and estimates have no upper bound, and it wishes for one.
        warnings.filterwarnings("ignore", message=".*maximum value is infinity.*")
        # It draws actions without the mask; those are errors, as they should be.
        with pytest.raises(InvalidAction, match="names no waiting job"):
            check_env(env, skip_render_check=True)


def test_first_come_first_served_is_the_simulators_schedule() -> None:
    """On one GPU type without noise the environment must end when the simulator says."""
    config = GpuAssignmentConfig(
        gpus={"volta": 4}, speeds={"learning": {"volta": 2.0}}, jobs=60, noise=0.0, shown=8
    )
    pool = AssignmentPool(config, range(4))
    played = play_pool(pool, fcfs(config))
    for seed in range(4):
        drawn = config.draw(np.random.default_rng(seed))
        schedule = simulate(
            drawn.trace, config.cluster(), "fcfs", "first-available", "none",
            Estimates("told", drawn.estimates),
        )  # fmt: skip
        spent = np.mean(schedule.end - drawn.trace.jobs.submit)
        assert played.completion_time[seed] == pytest.approx(float(spent), rel=1e-12)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 4))
def test_random_valid_actions_start_every_job_once_and_rewards_add_up(
    seed: int, count: int
) -> None:
    random = np.random.default_rng(seed)
    pool = AssignmentPool(SMALL, [seed])
    batch = GpuAssignmentBatch(pool, count)
    batch.begin({"episode": 0})
    total, over = np.zeros(count), np.zeros(count, bool)
    while not over.all():
        chance = random.random(batch.seen["mask"].shape) * batch.seen["mask"]
        batch.step(chance.argmax(axis=1))
        total += np.where(over, 0.0, batch.rewards)
        ended = batch.dones & ~over
        if ended.any():
            spent, jobs, _, _, idle = batch.state.measures[ended].T
            assert np.all(jobs == SMALL.jobs)
            # Idle time after the last start is nobody's fault and not in the reward.
            least = -(spent + SMALL.idle_weight * idle) / SMALL.run
            most = -spent / SMALL.run
            assert np.all((total[ended] >= least - 1e-9) & (total[ended] <= most + 1e-9))
        over |= batch.dones


def test_an_action_that_the_mask_rules_out_is_an_error() -> None:
    batch = GpuAssignmentBatch(AssignmentPool(SMALL, [0]))
    batch.begin({"episode": 0})
    for bad in (-1, batch.seen["mask"].shape[1], int(batch.seen["mask"][0].argmin())):
        with pytest.raises(InvalidAction):
            batch.step(np.array([bad]))
    with pytest.raises(InvalidAction):
        batch.step(np.array([0.0]))


def test_many_are_as_one() -> None:
    one = GpuAssignment(SMALL, range(5))
    many = GpuAssignmentVector(2, SMALL, range(5))
    seen_one, _ = one.reset(seed=3, options={"episode": 2})
    seen_many, _ = many.reset(seed=3, options={"episode": 2})
    for _ in range(20):
        action = int(seen_one["mask"].argmax())
        for name, part in seen_one.items():
            assert np.array_equal(seen_many[name][1], part)
        seen_one, reward, done, *_ = one.step(np.int64(action))
        seen_many, rewards, dones, *_ = many.step(np.array([action, action]))
        assert (rewards[1], dones[1]) == (reward, done)
        if done:
            break


def test_speeds_that_are_believed_can_be_changed_and_are_shown() -> None:
    pool = AssignmentPool(SMALL, [0])
    batch = GpuAssignmentBatch(pool)
    speeds = SMALL.believed_speeds()
    speeds[:, 0] /= 2.0
    batch.believe(speeds)
    batch.begin({"episode": 0})
    kind = batch.seen["jobs"][0, 0, 3:].argmax()
    assert batch.seen["speeds"][0, 0, 0] == pytest.approx(speeds[kind, 0])


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(ConfigError, match="idle_weight"):
        GpuAssignmentConfig(idle_weight=1.0)
    with pytest.raises(ConfigError, match="lack"):
        GpuAssignmentConfig(gpus={"ampere": 2})
    with pytest.raises(ConfigError):
        GpuAssignmentConfig(slow={99: 0.5})


@pytest.mark.parametrize("name", list(HEURISTICS))
def test_every_rule_finishes_every_episode(name: str) -> None:
    played = play_pool(AssignmentPool(SMALL, range(3)), HEURISTICS[name](SMALL))
    assert np.all(np.isfinite(played.completion_time))
    assert np.all((played.utilisation > 0.0) & (played.utilisation <= 1.0))


def test_environments_with_the_usual_episodes_share_them_and_others_do_not() -> None:
    first, second = GpuAssignment(), GpuAssignment()
    other = GpuAssignment(seeds=[2, 0, 1])
    assert first.batch.pool is second.batch.pool
    assert other.batch.pool.seeds == (2, 0, 1)
    drawn: Any = np.arange(3)  # not typed so, and taken
    assert GpuAssignment(seeds=drawn).batch.pool.seeds == (0, 1, 2)
