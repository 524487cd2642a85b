"""The published learners on slots: masks, schedules, and the network that NumPy plays."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from gymnasium import spaces

from dovetail.domain.errors import ConfigError
from dovetail.mig.agents.slot_network import SlotNetwork, evaluate_slots, load_slots, save_slots
from dovetail.mig.envs.config import MigPlacementConfig
from dovetail.mig.envs.days import MigDays
from dovetail.mig.envs.placement_batch import MigPlacementVector
from dovetail.mig.gpus.cluster import MigCluster
from dovetail.mig.workload.seeds import EvaluationDays

torch = pytest.importorskip("torch")
pytest.importorskip("sb3_contrib")

from stable_baselines3.common.torch_layers import FlattenExtractor  # noqa: E402

from dovetail.mig.agents.masked_dqn import NEVER, MaskedQNetwork  # noqa: E402
from dovetail.mig.agents.slot_envs import MaskedSlotEnvs, SlotEnvs  # noqa: E402
from dovetail.mig.agents.slot_training import (  # noqa: E402
    METHODS,
    SlotTraining,
    falling,
    network_of,
    train_slots,
)

SMALL = "2xa100-40:2,12"
HOURS = MigPlacementConfig(MigDays(hours=2.0), MigCluster.parse(SMALL), pool=2)
TINY = SlotTraining(
    steps=256, environments=2, layers=(16, 8), rollout=64, batch=64, passes=2, environment=HOURS
)


@pytest.mark.parametrize("method", list(METHODS))
def test_every_method_learns_a_network_that_plays_whole_days(
    method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    # The environment refuses an action that is not valid: training would raise.
    network, seconds = train_slots(method, TINY)
    assert not list(tmp_path.glob("SB3*")), "no folder of figures is left behind"
    rows = evaluate_slots({method: network}, SMALL, chosen=EvaluationDays(0, 2), hours=2.0)
    assert seconds > 0
    assert [row["seed"] for row in rows] == [0, 1]
    assert all(0 <= row["late_share"] <= 1 and row["energy"] > 0 for row in rows)


@pytest.mark.parametrize("method", list(METHODS))
def test_the_same_seed_learns_the_same_network(method: str) -> None:
    one, other = (train_slots(method, TINY)[0] for _ in range(2))
    for mine, theirs in zip(one.layers, other.layers, strict=True):
        np.testing.assert_array_equal(mine[0], theirs[0])
    different = train_slots(method, replace(TINY, seed=1))[0]
    assert not np.array_equal(one.layers[0][0], different.layers[0][0])


@pytest.mark.parametrize("activation", ["tanh", "relu"])
def test_numpy_computes_what_torch_computes(activation: str) -> None:
    torch.manual_seed(0)
    parts = {"tanh": torch.nn.Tanh, "relu": torch.nn.ReLU}
    net = torch.nn.Sequential(torch.nn.Linear(5, 7), parts[activation](), torch.nn.Linear(7, 3))
    seen = np.random.default_rng(0).normal(size=(11, 5)).astype(np.float32)
    ours = network_of([*net], activation).scores(seen, np.ones((11, 3)))
    theirs = net(torch.from_numpy(seen)).detach().numpy()
    np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)


def test_a_network_is_never_asked_for_a_slot_that_is_not_valid() -> None:
    envs = MigPlacementVector(4, HOURS)
    seen, infos = envs.reset(seed=0)
    random = np.random.default_rng(0)
    inputs, actions = seen.shape[1], envs.batch.actions
    network = SlotNetwork(
        "any", ((random.normal(size=(inputs, actions)), np.zeros(actions)),), "relu"
    )
    for _ in range(300):
        chosen = network.choose(seen, infos["action_mask"])
        assert infos["action_mask"][np.arange(4), chosen].all()
        seen, *_, infos = envs.step(chosen)


def test_a_q_network_gives_no_value_to_what_is_not_valid() -> None:
    envs = MaskedSlotEnvs(HOURS, count=3, seed=0)
    shown = envs.reset()
    masks = envs.action_masks()
    assert np.array_equal(shown[:, -envs.envs.batch.actions :] > 0, masks)
    assert isinstance(envs.observation_space.shape, tuple)
    assert shown.shape == (3, *envs.observation_space.shape)
    assert isinstance(envs.action_space, spaces.Discrete)
    extractor = FlattenExtractor(envs.observation_space)
    net = MaskedQNetwork(
        envs.observation_space, envs.action_space, extractor, extractor.features_dim, [8]
    )
    for _ in range(30):
        values = net(torch.from_numpy(shown)).detach().numpy()
        assert np.array_equal(values == NEVER, ~envs.action_masks())
        envs.step_async(values.argmax(axis=1))
        shown = envs.step_wait()[0]


def test_environments_go_as_the_vector_does() -> None:
    envs, vector = SlotEnvs(HOURS, count=2, seed=5), MigPlacementVector(2, HOURS)
    shown, (seen, told) = envs.reset(), vector.reset(seed=5)
    over = 0
    for _ in range(900):
        np.testing.assert_array_equal(shown, seen)
        actions = np.argmax(told["action_mask"], axis=1)
        envs.step_async(actions)
        shown, rewards, dones, infos = envs.step_wait()
        seen, expected, ends, _, told = vector.step(actions)
        np.testing.assert_array_equal(rewards, expected.astype(np.float32))
        np.testing.assert_array_equal(dones, ends)
        assert all(("late_share" in info) == done for info, done in zip(infos, dones, strict=True))
        over += int(dones.sum())
    assert over > 0


def test_rates_fall_evenly_from_the_first_to_the_last() -> None:
    rate = falling((3e-4, 1e-5))
    assert rate(1.0) == pytest.approx(3e-4)
    assert rate(0.5) == pytest.approx(1.55e-4)
    assert rate(0.0) == rate(-0.1) == pytest.approx(1e-5)


def test_a_network_reads_back_as_it_was_written_and_knows_its_cluster(tmp_path: Path) -> None:
    network, seconds = train_slots("ppo", TINY)
    save_slots(tmp_path, network, {"method": "ppo", "seconds": seconds})
    again = load_slots(tmp_path)
    seen = np.random.default_rng(0).normal(size=(5, network.layers[0][0].shape[0]))
    mask = np.ones((5, network.layers[-1][1].shape[0]))
    np.testing.assert_array_equal(network.scores(seen, mask), again.scores(seen, mask))
    with pytest.raises(ConfigError, match="another cluster"):
        evaluate_slots(
            {"again": again}, "4xa100-40:1,2,3,12", chosen=EvaluationDays(0, 1), hours=2.0
        )
    with pytest.raises(ConfigError, match="not a network"):
        SlotNetwork.read({"weights0": np.zeros((2, 2))}, "broken")


def test_the_published_settings_are_the_defaults() -> None:
    config = SlotTraining()
    assert (config.layers, config.rollout, config.environments) == ((256, 256, 128), 1024, 8)
    assert (config.batch, config.passes, config.steps, config.clip) == (4096, 10, 500_000, 0.15)
