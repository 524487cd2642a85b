"""`dovetail train` and `dovetail evaluate`, end to end on a tiny workload."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Command


def test_a_policy_is_trained_evaluated_and_used(dovetail: Command, tmp_path: Path) -> None:
    model, result = tmp_path / "model", tmp_path / "result.json"
    given = ("--jobs", 1200, "--load", 1.0, "--cluster", "4x8:v100")
    trained = dovetail(
        "train", "--trace", "synth:helios", *given, "--epochs", 1, "--length", 100, "--out", model
    )
    assert trained.code == 0, trained.err
    assert "it is a policy" in trained.out

    found = dovetail(
        "evaluate", model, "synth:helios", *given, "--policies", "saf,fcfs", "--json", result
    )
    assert found.code == 0, found.err
    assert "120 unseen jobs" in found.out
    assert "windows of the unseen part: 1 with 120 jobs" in found.out
    assert "mean of 3 draws" in found.out
    assert found.out.count("clairvoyant bound") == 2
    figures = json.loads(result.read_text())
    for part in ("unseen", "windows"):
        labels = [row["label"] for row in figures[part]["rows"]]
        assert labels[1:] == ["saf+easy", "fcfs+easy"]

    alone = dovetail(
        "evaluate", model, "synth:helios", *given, "--policies", "saf", "--windows", 0,
        "--seeds", 1, "--json", result,
    )  # fmt: skip
    assert alone.code == 0, alone.err
    assert "windows" not in json.loads(result.read_text())

    used = dovetail("simulate", "synth:helios", *given, "--order", model)
    assert used.code == 0, used.err


def test_a_policy_is_trained_against_a_base(dovetail: Command, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    given = ("--jobs", 1200, "--load", 1.0, "--cluster", "4x8:v100")
    trained = dovetail(
        "train", "--agent", "rltune", "--trace", "synth:helios", *given, "--base", "sjf",
        "--metric", "wait", "--features", "raw", "--start", "saf", "--epochs", 1, "--length", 32,
        "--out", tmp_path,
    )  # fmt: skip
    assert trained.code == 0, trained.err
    assert "than sjf" in trained.out
    found = dovetail("evaluate", tmp_path, "synth:helios", *given, "--policies", "saf")
    assert found.code == 0, found.err


def test_a_setting_that_the_agent_does_not_have_is_refused(
    dovetail: Command, tmp_path: Path
) -> None:
    said = dovetail(
        "train", "--trace", "synth:helios", "--cluster", "4x8", "--base", "sjf",
        "--out", tmp_path / "model",
    )  # fmt: skip
    assert said.code == 2
    assert "evolution has no --base" in said.err


def test_without_torch_the_error_says_what_to_install(
    dovetail: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "dovetail.agents.rltune", None)
    said = dovetail(
        "train", "--trace", "synth:helios", "--cluster", "4x8", "--agent", "rltune",
        "--out", tmp_path / "model",
    )  # fmt: skip
    assert said.code == 2
    assert "pip install 'dovetail-scheduler[train]'" in said.err


def test_an_unknown_agent_is_answered_with_the_known_ones(
    dovetail: Command, tmp_path: Path
) -> None:
    said = dovetail(
        "train", "--trace", "synth:helios", "--cluster", "4x8", "--agent", "evolutoin",
        "--out", tmp_path / "model",
    )  # fmt: skip
    assert said.code == 2
    assert "did you mean 'evolution'" in said.err


def test_a_folder_without_a_model_is_a_clear_error(dovetail: Command, tmp_path: Path) -> None:
    said = dovetail("evaluate", tmp_path, "synth:helios", "--cluster", "4x8")
    assert said.code == 2
    assert "not a readable checkpoint" in said.err
