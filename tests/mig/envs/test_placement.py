"""The placement environment of sliced GPUs: it is the simulator, seen decision by decision."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from dovetail.domain.errors import ConfigError
from dovetail.domain.jobs import Floats
from dovetail.envs import MIG_PLACEMENT, InvalidAction
from dovetail.mig.envs import MigPlacementBatch, MigPlacementConfig, MigPlacementVector
from dovetail.mig.envs.batch import SCORES
from dovetail.mig.envs.days import GivenDays, MigDays
from dovetail.mig.envs.observation import MIG_OBSERVATIONS
from dovetail.mig.envs.reward import immediate
from dovetail.mig.gpus.cluster import MIG_DAY_CLUSTER, MigCluster
from dovetail.mig.metrics import summary
from dovetail.mig.policies import PLACERS
from dovetail.mig.policies.features import SLICE_FEATURES, describe_slices
from dovetail.mig.policy import Keys, MomentRow, Placer, SliceRows, ranking
from dovetail.mig.simulator import simulate_mig
from dovetail.mig.workload.day import mig_day
from dovetail.mig.workload.jobs import MigWorkload

MIXED = MigCluster.parse("2xa100-40:2,12 + 2xa30-24:3,5")
SHORT = MigDays(hours=2.0)


def hours(count: int) -> tuple[MigWorkload, ...]:
    return tuple(mig_day(seed=seed, hours=1.5) for seed in range(count))


@ranking
def _linear(p: Floats, moment: MomentRow, slices: SliceRows, keys: Keys) -> None:
    """p: a weight for each feature; the slice with the highest sum goes."""
    features = np.empty((len(SLICE_FEATURES), len(slices)))
    describe_slices(moment, slices, features)
    for i in range(len(slices)):
        for feature in range(len(p)):
            keys[i, 0] -= p[feature] * features[feature, i]


@pytest.mark.parametrize("observation", list(MIG_OBSERVATIONS))
@pytest.mark.parametrize("may_wait", [False, True])
def test_gymnasium_finds_nothing_wrong(observation: str, may_wait: bool) -> None:
    config = MigPlacementConfig(
        SHORT, observation=MIG_OBSERVATIONS[observation], may_wait=may_wait, pool=2
    )
    env = gymnasium.make(MIG_PLACEMENT, config=config).unwrapped
    check_env(env, skip_render_check=True)


def test_taking_the_largest_free_slice_gives_the_schedule_of_largest_first() -> None:
    days = hours(4)
    batch = MigPlacementBatch(MigPlacementConfig(GivenDays(days)), count=4, threads=2)
    sizes = np.array([part.compute for part in MIG_DAY_CLUSTER.slices])
    batch.begin({"day": [0, 1, 2, 3]})
    for i, infos in played(batch, lambda: np.argmax(batch.mask * sizes, axis=1)).items():
        schedule = summary(simulate_mig(days[i], MIG_DAY_CLUSTER, PLACERS["largest-first"]))
        for name, value in infos.items():
            assert value == pytest.approx(schedule[name], rel=1e-9), name
    batch.close()


@pytest.mark.parametrize("cluster", [MIG_DAY_CLUSTER, MIXED], ids=["a100", "mixed"])
def test_weighed_features_decide_alike_in_the_environment_and_inside_the_simulator(
    cluster: MigCluster,
) -> None:
    days = hours(2)
    weights = np.random.default_rng(3).normal(size=len(SLICE_FEATURES))
    config = MigPlacementConfig(GivenDays(days), cluster, observation=MIG_OBSERVATIONS["slices"])
    batch = MigPlacementBatch(config, count=2)
    batch.begin({"day": [0, 1]})

    def choose() -> Any:
        sums = batch.seen.reshape(2, batch.slots, -1) @ weights
        return np.argmax(np.where(batch.mask > 0, sums, -np.inf), axis=1)

    placer = Placer("linear", _linear, weights=weights)
    for i, infos in played(batch, choose).items():
        schedule = summary(simulate_mig(days[i], cluster, placer))
        for name, value in infos.items():
            assert value == pytest.approx(schedule[name], rel=1e-9), name


def test_immediate_rewards_add_up_to_the_objective() -> None:
    reward = immediate(late=1.0, tardiness=0.5, energy=1e-3)
    days = hours(1)
    batch = MigPlacementBatch(MigPlacementConfig(GivenDays(days), reward=reward))
    batch.begin({"day": 0})
    total, done = 0.0, False
    while not done:
        batch.step(np.argmax(batch.mask, axis=1))
        total, done = total + float(batch.rewards[0]), bool(batch.dones[0])
    jobs, infos = len(days[0]), batch.ended()
    late, tardiness = float(infos["late_share"][0]), float(infos["tardiness_mean"][0])
    energy = float(infos["energy_watt_minutes"][0])
    assert -total == pytest.approx(jobs * (late + 0.5 * tardiness) + 1e-3 * energy, rel=1e-9)


def test_many_go_as_gymnasium_would_step_them_one_by_one() -> None:
    config = MigPlacementConfig(SHORT, pool=3)
    many = gymnasium.make_vec(MIG_PLACEMENT, num_envs=3, config=config, threads=2)
    assert isinstance(many.unwrapped, MigPlacementVector)
    single = SyncVectorEnv(
        [lambda: gymnasium.make(MIG_PLACEMENT, config=config, disable_env_checker=True)] * 3,
        autoreset_mode=AutoresetMode.SAME_STEP,
    )
    (seen, infos), (other, others) = many.reset(seed=5), single.reset(seed=5)
    over = 0
    for _ in range(900):
        np.testing.assert_array_equal(seen, other)
        np.testing.assert_array_equal(infos["action_mask"], others["action_mask"])
        np.testing.assert_array_equal(infos["day"], others["day"])
        actions = np.argmax(infos["action_mask"], axis=1)
        seen, rewards, ends, _, infos = many.step(actions)
        other, expected, expected_ends, _, others = single.step(actions)
        np.testing.assert_array_equal(rewards, expected)
        np.testing.assert_array_equal(ends, expected_ends)
        if ends.any():
            over += 1
            for name in SCORES:
                np.testing.assert_array_equal(
                    infos["final_info"][name][ends], others["final_info"][name][ends]
                )
    assert over > 0
    many.close()


def test_waiting_is_allowed_only_while_something_is_to_come() -> None:
    config = MigPlacementConfig(GivenDays(hours(1)), may_wait=True)
    batch = MigPlacementBatch(config)
    batch.begin({"day": 0})
    done, steps = False, 0
    while not done:
        wait = batch.mask[0, -1] > 0
        batch.step([batch.slots if wait else int(np.argmax(batch.mask[0]))])
        done, steps = bool(batch.dones[0]), steps + 1
    # Whoever always waits places jobs one after the other, when all have come.
    assert steps > 2 * len(hours(1)[0])


def test_an_action_that_the_mask_rules_out_is_refused() -> None:
    batch = MigPlacementBatch(MigPlacementConfig(SHORT, pool=1))
    batch.begin()
    while batch.mask.all():
        batch.step([0])
    with pytest.raises(InvalidAction, match="look at the mask"):
        batch.step([int(np.argmin(batch.mask[0]))])
    with pytest.raises(ConfigError, match="the days 0 to 0"):
        batch.begin({"day": 1})
    with pytest.raises(gymnasium.error.ResetNeeded):
        MigPlacementVector(config=MigPlacementConfig(SHORT, pool=1)).step([0])


def played(batch: MigPlacementBatch, choose: Any) -> dict[int, dict[str, float]]:
    """Play until every environment has ended a day; how the first days went."""
    ended: dict[int, dict[str, float]] = {}
    while len(ended) < batch.count:
        batch.step(choose())
        for i in np.flatnonzero(batch.dones).tolist():
            ended.setdefault(i, {name: float(part[i]) for name, part in batch.ended().items()})
    return ended
