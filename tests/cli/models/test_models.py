"""`dovetail models`: listed, refused, promoted, taken back."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Command
from tests.models.test_models import save


def test_an_empty_store_says_what_to_do(dovetail: Command, tmp_path: Path) -> None:
    said = dovetail("models", "list", "--store", str(tmp_path / "none"))
    assert said.code == 0
    assert "no models" in said.out


def test_list_promote_and_rollback(dovetail: Command, tmp_path: Path) -> None:
    from dovetail.models import ModelStore

    folder = str(tmp_path / "models")
    store = ModelStore(Path(folder))
    version = store.add("index", save(tmp_path / "one"))
    history = ("--trace", "synth:helios", "--cluster", "4x8", "--store", folder)
    said = dovetail("models", "promote", "index", version, *history)
    assert said.code == 0, said.err
    assert said.err == f"index: promoted {version}\n"
    listed = dovetail("models", "list", "--store", folder)
    assert "champion" in listed.out
    back = dovetail("models", "rollback", "index", "--why", "x", "--store", folder)
    assert back.code == 2
    assert "no earlier champion" in back.err


def test_a_model_that_does_not_say_what_it_saw(dovetail: Command, tmp_path: Path) -> None:
    model = save(tmp_path / "one")
    said = dovetail("models", "drift", str(model), "--trace", "synth:helios")
    assert said.code == 2
    assert "does not say what it was trained on" in said.err
