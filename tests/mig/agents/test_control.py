"""Learning to cut GPUs and to place on them: it learns, stops, goes on, and reads back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from dovetail.domain.errors import ConfigError
from dovetail.mig.agents.control_config import ControlTraining, balanced_weight, costs
from dovetail.mig.agents.control_training import (
    ControlProgress,
    evaluate,
    train_joint,
    train_repartition,
)
from dovetail.mig.agents.published_control import (
    MatrixActorCritic,
    PublishedTraining,
    train_published,
)
from dovetail.mig.gpus.cluster import MigCluster
from dovetail.mig.gpus.table import A100_40
from dovetail.mig.mean_field import seen_by
from dovetail.mig.policies.controllers import matrix_field
from dovetail.mig.policies.learned.control import (
    CONTROL_MODELS,
    CONTROLS,
    PARTS,
    STATIC_PLACER,
    MigPolicy,
    load_control,
    slices_of,
)
from dovetail.mig.simulator import simulate_mig
from dovetail.mig.workload.day import mig_day
from dovetail.policies.learned.checkpoint import Checkpoint, save_checkpoint

# Seven small slices per GPU are a bad way to begin: there is something to learn at once.
TOY = ControlTraining(
    cluster="4xa100-40:19", rate=10.0, hours=1.0, days=3, validation_days=2,
    epochs=2, population=4, batch=2, validate_every=1,
)  # fmt: skip


def test_slices_of_all_ways_fit_a_gpu() -> None:
    table = slices_of(A100_40)
    assert table.shape == (14, 5)
    assert (table @ [1, 2, 3, 4, 7]).max() == 7
    assert table[0].tolist() == [0, 0, 0, 0, 1]


def test_tardiness_counts_twice_as_much_as_energy() -> None:
    scores = np.array([[0.5, 2.0, 3e6], [0.5, 4.0, 1e6]])
    weight = balanced_weight(scores)
    assert weight * scores[:, 2].mean() == pytest.approx(scores[:, 1].mean() / 2)
    assert costs(scores, 0.0).tolist() == [2.0, 4.0]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_little_learning_beats_the_static_cluster(tmp_path: Path, seed: int) -> None:
    found: list[ControlProgress] = []
    checkpoint = train_repartition(replace(TOY, seed=seed), tmp_path, found.append)
    assert [progress.epoch for progress in found] == [1, 2, 3, 4]
    assert found[-1].best < 0.9
    policy, _ = load_control(tmp_path)
    days = [mig_day(seed, TOY.slack, TOY.rate, TOY.hours) for seed in range(2)]
    weight = checkpoint.card["energy_weight"]
    learned, static = (
        np.mean([row["energy_tardiness"] for row in evaluate(one, TOY.cluster, days, weight)])
        for one in (policy, MigPolicy(STATIC_PLACER, None))
    )
    assert learned < 0.9 * static


def test_a_training_that_was_stopped_goes_on_as_if_it_had_not(tmp_path: Path) -> None:
    def stop(progress: ControlProgress) -> None:
        if progress.epoch == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_repartition(TOY, tmp_path / "torn", stop)
    torn = train_repartition(TOY, tmp_path / "torn")
    whole = train_repartition(TOY, tmp_path / "whole")
    assert np.array_equal(torn.arrays["repartition"], whole.arrays["repartition"])
    assert torn.card["validation_et_of_static"] == whole.card["validation_et_of_static"]


def test_a_folder_with_other_settings_is_refused(tmp_path: Path) -> None:
    train_repartition(replace(TOY, epochs=1), tmp_path)
    with pytest.raises(ConfigError, match="other settings"):
        train_repartition(TOY, tmp_path)


def test_a_joint_control_begins_where_repartitioning_ended(tmp_path: Path) -> None:
    alone = train_repartition(replace(TOY, epochs=1), tmp_path / "alone")
    found: list[ControlProgress] = []
    train_joint(replace(TOY, epochs=1), tmp_path / "joint", found.append, begin=tmp_path / "alone")
    assert [progress.turn for progress in found] == ["placement", "both"]
    policy, joint = load_control(tmp_path / "joint")
    assert set(joint.arrays) == {"asked", "repartition", "placement"}
    assert joint.arrays["repartition"].shape == alone.arrays["repartition"].shape
    day = mig_day(0, TOY.slack, TOY.rate, TOY.hours)
    schedule = simulate_mig(day, MigCluster.parse(TOY.cluster), policy.placer, policy.field)
    assert schedule.ran.all()
    assert schedule.repartitions > 0


def test_a_turn_learns_its_own_part_only() -> None:
    joint = CONTROLS["joint"]
    parts = joint.split(joint.learns("placement"))
    assert not parts["repartition"].any()
    assert parts["placement"].all()
    assert joint.learns("both").all()
    assert len(joint.start) == len(joint.scale) == sum(len(part.start) for part in PARTS.values())


def test_a_control_reads_back_as_it_was_written(tmp_path: Path) -> None:
    control = CONTROLS["joint"]
    arrays = {"asked": np.array([5.0, 3.0]), **control.split(control.start)}
    save_checkpoint(tmp_path, Checkpoint("mig-control", arrays, {"epoch": 1}), CONTROL_MODELS)
    policy, checkpoint = load_control(tmp_path)
    expected = control.policy(control.start, "same", every=5, likely=3)
    assert policy.field is not None
    assert expected.field is not None
    assert np.array_equal(policy.field.weights, expected.field.weights)
    assert (policy.field.every, policy.field.most_likely) == (5, 3)
    assert np.array_equal(policy.placer.numbers(), expected.placer.numbers())
    assert checkpoint.card == {"epoch": 1}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("asked", np.array(["5", "3"])),
        ("repartition", np.array([np.nan])),
        ("repartition", np.zeros(3)),
    ],
)
def test_a_broken_control_is_a_clear_error(
    tmp_path: Path, name: str, value: np.ndarray[tuple[int, ...], np.dtype[np.generic]]
) -> None:
    arrays = {"asked": np.array([5.0, 3.0]), "repartition": PARTS["repartition"].start}
    broken = Checkpoint("mig-control", {**arrays, name: value}, {})
    save_checkpoint(tmp_path, broken, CONTROL_MODELS)
    with pytest.raises(ConfigError):
        load_control(tmp_path)


def test_the_published_controller_is_the_same_without_torch() -> None:
    torch.manual_seed(0)
    config = PublishedTraining(hidden=8)
    network = MatrixActorCritic(37, 14, config)
    arrays = network.arrays()
    layers = [(arrays[f"weights{i}"], arrays[f"biases{i}"]) for i in range(3)]
    field = matrix_field(layers, "published")
    seen = np.random.default_rng(0).random(seen_by(14))
    out = np.zeros((14, 14))
    field.matrix(field.weights, seen, out)
    with torch.inference_mode():
        expected = network.actor(torch.from_numpy(seen[:37].astype(np.float32))).numpy()
    assert out.ravel() == pytest.approx(expected, rel=1e-4, abs=1e-4)
    assert np.diag(out).min() > 1.0  # GPUs mostly stay at first


def test_ppo_leaves_a_controller_that_can_be_used(tmp_path: Path) -> None:
    config = PublishedTraining(
        TOY, updates=2, environments=2, steps=16, hidden=8, minibatch=16, validate_every=1
    )
    texts: list[str] = []
    train_published(config, tmp_path, texts.append)
    policy, checkpoint = load_control(tmp_path)
    assert len(texts) == 3
    assert checkpoint.kind == "mig-published"
    rows = evaluate(policy, TOY.cluster, TOY.choosing_days(), checkpoint.card["energy_weight"])
    assert len(rows) == 2
