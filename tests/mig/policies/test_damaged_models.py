"""A folder that calls itself a model for sliced GPUs may hold anything: it is refused in words."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from dovetail.domain.errors import DovetailError
from dovetail.mig.agents.control_config import ControlTraining
from dovetail.mig.agents.control_training import train_joint
from dovetail.mig.agents.slot_network import SlotNetwork, load_slots, save_slots
from dovetail.mig.evaluation.contenders import placer_behind, repartitioner_behind
from dovetail.mig.evaluation.unseen import LearnedContender
from dovetail.mig.gpus.cluster import MigCluster
from dovetail.mig.policies.learned.placement import SHIPPED
from dovetail.mig.simulator import simulate_mig
from dovetail.mig.workload.day import mig_day

CLUSTER = MigCluster.parse("1xa100-40:12")
DAY = mig_day(seed=0, rate=2.0, hours=1.0)
VALUES: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    3.5,
    1e308,
    "text",
    "",
    [],
    [1],
    {},
    {"a": 1},
    "8xa100-40:99",
)


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("models")
    short = ControlTraining(
        cluster="1xa100-40:12", hours=1.0, rate=2.0, epochs=1, population=4, batch=1, days=1,
        validation_days=1,
    )  # fmt: skip
    train_joint(short, folder / "joint")
    shutil.copytree(SHIPPED, folder / "placement")
    layers = ((np.zeros((8, 3)), np.zeros(3)), (np.zeros((3, 4)), np.zeros(4)))
    save_slots(folder / "slots", SlotNetwork("slots", layers, "tanh"), {"method": "ppo"})
    return {name: folder / name for name in ("joint", "placement", "slots")}


def use(folder: Path) -> None:
    """All that commands do with a model's folder."""
    name = str(folder)
    for read in (placer_behind, repartitioner_behind, LearnedContender.load, read_slots):
        attempt(read, name)
    LearnedContender.load(name)
    simulate_mig(DAY, CLUSTER, placer_behind(name))


def read_slots(name: str) -> None:
    network = load_slots(Path(name))
    network.refuse_other(8, 4, "this one")
    network.scores(np.zeros((1, 8)), np.ones((1, 4)))


def attempt(read: Callable[[str], Any], name: str) -> None:
    with suppress(DovetailError):
        read(name)


def damaged(source: Path, target: Path, change: Callable[[Path], None]) -> None:
    """Change a copy, and use it: it works or is refused in words."""
    shutil.copytree(source, target)
    change(target)
    with suppress(DovetailError):
        use(target)
    shutil.rmtree(target)


@pytest.mark.parametrize("name", ["joint", "placement", "slots"])
def test_flipped_and_missing_bytes_are_no_tracebacks(
    models: dict[str, Path], name: str, tmp_path: Path
) -> None:
    random = Random(name)

    def flip(folder: Path) -> None:
        path = folder / random.choice(("policy.npz", "policy.npz", "card.json"))
        data = bytearray(path.read_bytes())
        for _ in range(random.randint(1, 4)):
            data[random.randrange(len(data))] ^= 1 << random.randrange(8)
        path.write_bytes(data if random.random() < 0.7 else data[: random.randrange(len(data))])

    for _ in range(60):
        damaged(models[name], tmp_path / "m", flip)


@pytest.mark.parametrize("name", ["joint", "placement", "slots"])
def test_values_of_other_types_in_the_card_are_no_tracebacks(
    models: dict[str, Path], name: str, tmp_path: Path
) -> None:
    random = Random(name)

    def change(folder: Path) -> None:
        path = folder / "card.json"
        card = json.loads(path.read_text())
        within = card["config"] if "config" in card and random.random() < 0.7 else card
        within[random.choice(list(within))] = random.choice(VALUES)
        path.write_text(json.dumps(card if random.random() < 0.95 else random.choice(VALUES)))

    for _ in range(60):
        damaged(models[name], tmp_path / "m", change)


@pytest.mark.parametrize("name", ["joint", "placement", "slots"])
def test_arrays_of_other_shapes_and_types_are_no_tracebacks(
    models: dict[str, Path], name: str, tmp_path: Path
) -> None:
    random = Random(name)
    arrays: list[Any] = [
        np.zeros(0), np.zeros(3), np.zeros((2, 2)), np.array("text"), np.array(["a", "b"]),
        np.full(16, np.nan), np.full(12, np.inf), np.full(16, 1e308), np.zeros(16, np.int8),
        np.array(7.0), np.zeros(16, complex), np.ones((3, 4), bool), np.full(2, -5.0),
    ]  # fmt: skip

    def change(folder: Path) -> None:
        with np.load(folder / "policy.npz") as found:
            kept = dict(found)
        chosen = random.choice(list(kept))
        if random.random() < 0.2:
            del kept[chosen]
        else:
            kept[chosen] = random.choice(arrays)
        np.savez(folder / "policy.npz", **kept)

    for _ in range(60):
        damaged(models[name], tmp_path / "m", change)
