"""A folder that calls itself a model may hold anything: it is refused in words."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dovetail.agents.evolution.search import Evolution
from dovetail.agents.evolution.search_file import FILE, load_search, save_search
from dovetail.domain.errors import ConfigError
from dovetail.policies.learned.arrays_file import Card
from dovetail.policies.learned.checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from dovetail.policies.ordering.learned import untrained
from dovetail.policies.policy import policy_named


def model(folder: Path, kind: str = "network", card: object = None, **arrays: Any) -> str:
    folder.mkdir(exist_ok=True)
    np.savez(folder / "policy.npz", kind=np.array(kind), **arrays)
    (folder / "card.json").write_text(json.dumps({} if card is None else card))
    return str(folder)


@pytest.mark.parametrize(
    "weights",
    [
        np.zeros(3),
        np.array(["a", "b"]),
        np.zeros(2, dtype=complex),
        np.zeros(2, dtype=[("a", "f8")]),
        np.array("2020-01-01", dtype="datetime64[D]"),
    ],
)
@pytest.mark.parametrize("kind", ["network", "index", "rltune", "choice"])
def test_arrays_of_a_wrong_type_or_shape_are_refused(
    kind: str, weights: Any, tmp_path: Path
) -> None:
    folder = model(tmp_path / "model", kind, weights=weights, features=weights)
    with pytest.raises(ConfigError):
        policy_named(folder)


def test_features_that_are_no_names_are_refused(tmp_path: Path) -> None:
    folder = model(tmp_path / "model", "rltune", features=np.zeros((4, 2)))
    with pytest.raises(ConfigError, match="no table of features"):
        policy_named(folder)


def test_an_archive_without_arrays_is_refused(tmp_path: Path) -> None:
    folder = model(tmp_path / "model")
    with zipfile.ZipFile(tmp_path / "model" / "policy.npz", "a") as archive:
        archive.writestr("weights.npy", b"no array")
    with pytest.raises(ConfigError, match="'weights' is not an array"):
        load_checkpoint(Path(folder))


def test_an_archive_that_would_fill_the_memory_is_refused(tmp_path: Path) -> None:
    folder = model(tmp_path / "model")
    with zipfile.ZipFile(tmp_path / "model" / "policy.npz", "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("weights.npy", bytes(300 << 20))
    with pytest.raises(ConfigError, match="larger than 256 MiB"):
        load_checkpoint(Path(folder))


def test_an_archive_packed_in_an_unknown_way_is_refused(tmp_path: Path) -> None:
    folder = model(tmp_path / "model", weights=untrained(0))
    path = tmp_path / "model" / "policy.npz"
    data = bytearray(path.read_bytes())
    for mark, field in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        place = data.find(mark)
        while place >= 0:
            data[place + field] = 99
            place = data.find(mark, place + 1)
    path.write_bytes(data)
    with pytest.raises(ConfigError, match="not a readable checkpoint"):
        load_checkpoint(Path(folder))


@pytest.mark.parametrize("card", [[1], 3, "text"])
def test_a_card_that_is_no_object_is_refused(card: object, tmp_path: Path) -> None:
    folder = model(tmp_path / "model", card=card, weights=untrained(0))
    with pytest.raises(ConfigError, match="expected an object in braces"):
        load_checkpoint(Path(folder))


def test_a_card_nested_too_deeply_is_refused(tmp_path: Path) -> None:
    folder = model(tmp_path / "model", weights=untrained(0))
    (tmp_path / "model" / "card.json").write_text("[" * 100_000)
    with pytest.raises(ConfigError, match="not a readable checkpoint"):
        load_checkpoint(Path(folder))


@pytest.mark.parametrize("content", [{}, {"config": 1}, {"config": {"seed": "one"}}])
def test_a_card_without_what_is_asked_of_it_says_so(content: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=r"config\.seed.*train the model again"):
        Card(Path("model"), content).whole("config", "seed")


def test_a_model_that_was_saved_is_read(tmp_path: Path) -> None:
    save_checkpoint(tmp_path / "m", Checkpoint("network", {"weights": untrained(0)}, {"epoch": 1}))
    assert load_checkpoint(tmp_path / "m").card == {"epoch": 1}


def _go_on(folder: Path, search: Evolution) -> None:
    found = load_search(folder, {})
    assert found is not None
    found.into(search)


@pytest.mark.parametrize("damage", ["cut", "about", "shape"])
def test_a_damaged_search_is_refused(damage: str, tmp_path: Path) -> None:
    search = Evolution(np.zeros(3), 0.1, 4, 0)
    save_search(tmp_path, search, {"facts": {}})
    path = tmp_path / FILE
    if damage == "cut":
        path.write_bytes(path.read_bytes()[:100])
    else:
        arrays = dict(np.load(io.BytesIO(path.read_bytes())))
        arrays |= {"about": np.array("[1]")} if damage == "about" else {"mean": np.zeros(2)}
        np.savez(path, **arrays)
    with pytest.raises(ConfigError, match="not a readable"):
        _go_on(tmp_path, search)
