"""`dovetail train` and `dovetail evaluate`, end to end on a tiny workload."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from dovetail.agents.catalogue import AGENTS
from tests.cli.conftest import Command


def test_a_policy_is_trained_evaluated_and_used(dovetail: Command, tmp_path: Path) -> None:
    model, result = tmp_path / "model", tmp_path / "result.json"
    given = ("--jobs", 1200, "--load", 1.0, "--cluster", "4x8:v100")
    trained = dovetail(
        "train", "--trace", "synth:helios", *given, "--epochs", 1, "--length", 100,
        "--objective", "wait=1,tail=0.5", "--out", model,
    )  # fmt: skip
    assert trained.code == 0, trained.err
    assert "a policy: --order" in trained.out
    assert "the choice is kept: the history is too short" in trained.out

    found = dovetail(
        "evaluate", model, "synth:helios", *given, "--policies", "saf,fcfs", "--json", result
    )
    assert found.code == 0, found.err
    assert "120 unseen jobs" in found.out
    assert "windows of the unseen part: 1 with 120 jobs" in found.out
    assert "mean of 1 draws" in found.out
    assert "who gains, who pays" in found.out
    assert "2-4 GPUs" in found.out
    assert "by the objective wait=1,tail=0.5: " in found.out
    assert found.out.count("clairvoyant bound") == 4  # predicted, then limit
    figures = json.loads(result.read_text())["knowledge"]["predicted"]
    assert figures["objective"]["weights"] == "wait=1,tail=0.5"
    for part in ("unseen", "windows"):
        labels = [row["label"] for row in figures[part]["rows"]]
        assert labels[1:] == ["saf+easy", "fcfs+easy"]

    alone = dovetail(
        "evaluate", model, "synth:helios", *given, "--policies", "saf", "--windows", 0,
        "--seeds", 1, "--json", result, "--objective", "utilisation",
        "--promises", "utilisation=20%",
    )  # fmt: skip
    assert alone.code == 0, alone.err
    assert "by the objective utilisation=1: " in alone.out
    assert "promises: 1 kept, 0 broken" in alone.out
    assert "windows" not in json.loads(result.read_text())["knowledge"]["predicted"]

    used = dovetail("simulate", "synth:helios", *given, "--order", model)
    assert used.code == 0, used.err


def test_a_policy_is_trained_against_a_base(dovetail: Command, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    given = ("--jobs", 800, "--load", 1.0, "--cluster", "4x8:v100")
    trained = dovetail(
        "train", "--agent", "rltune", "--trace", "synth:helios", *given, "--base", "sjf",
        "--metric", "wait", "--features", "raw", "--start", "saf", "--epochs", 1, "--length", 32,
        "--set", "windows=16", "--set", "environments=8",
        "--set", "episodes_per_epoch=16", "--out", tmp_path,
    )  # fmt: skip
    assert trained.code == 0, trained.err
    assert "than the choice" in trained.out
    assert "is kept" in trained.out
    found = dovetail(
        "evaluate", tmp_path, "synth:helios", *given, "--policies", "saf", "--windows", 0,
        "--seeds", 1,
    )  # fmt: skip
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
    monkeypatch.setitem(sys.modules, "dovetail.agents.rltune.training", None)
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


def test_policies_are_trained_on_each_history_and_tested_on_all(
    dovetail: Command, tmp_path: Path
) -> None:
    for name, seed in (("a", 1), ("b", 2)):
        drawn = dovetail(
            "trace", "synth", "helios", "--jobs", 900, "--load", 1.1, "--cluster", "4x8",
            "--seed", seed, "--out", tmp_path / f"{name}.parquet",
        )  # fmt: skip
        assert drawn.code == 0, drawn.err
    found = dovetail(
        "transfer", "--trace", tmp_path / "a.parquet", "--trace", tmp_path / "b.parquet",
        "--cluster", "4x8", "--epochs", 1, "--out", tmp_path / "models",
        "--json", tmp_path / "cells.json",
    )  # fmt: skip
    assert found.code == 0, found.err
    cells = json.loads((tmp_path / "cells.json").read_text())["cells"]
    names = ["1-helios-synthetic", "2-helios-synthetic"]
    assert [(cell["trained_on"], cell["tested_on"]) for cell in cells] == [
        (trained, tested) for tested in names for trained in names
    ]
    assert "wait, ratio to saf+easy" in found.out


def test_any_agent_can_be_transferred_by_any_engine_and_the_help_names_them(
    dovetail: Command, tmp_path: Path
) -> None:
    said = " ".join(dovetail("transfer", "--help").out.split())
    assert [name for name in AGENTS if name not in said] == []
    assert {"--engine", "--address"} <= set(said.split())
    drawn = dovetail(
        "trace", "synth", "helios", "--jobs", 900, "--load", 1.1, "--cluster", "4x8",
        "--out", tmp_path / "a.parquet",
    )  # fmt: skip
    assert drawn.code == 0, drawn.err
    both = (
        "--trace",
        tmp_path / "a.parquet",
        "--trace",
        tmp_path / "a.parquet",
        "--cluster",
        "4x8",
    )
    asked = ("transfer", *both, "--agent", "choice", "--estimates", "noisy:1")
    refused = dovetail(*asked, "--address", "head:6379", "--out", tmp_path / "none")
    assert refused.code == 2
    assert "--address is for --engine ray" in refused.err
    refused = dovetail(*asked, "--epochs", 3, "--out", tmp_path / "none")
    assert "the agent choice has no --epochs" in refused.err
    found = dovetail(*asked, "--out", tmp_path / "models")
    assert found.code == 0, found.err
    assert "wait, ratio to saf+easy" in found.out


def test_clusters_that_do_not_match_the_traces_are_refused(
    dovetail: Command, tmp_path: Path
) -> None:
    said = dovetail(
        "train", *("--trace", "synth:helios") * 3, "--cluster", "4x8", "--cluster", "5x8",
        "--out", tmp_path,
    )  # fmt: skip
    assert said.code == 2
    assert "2 clusters for 3 traces" in said.err


def test_the_shipped_policy_goes_by_its_name(dovetail: Command, tmp_path: Path) -> None:
    given = ("--jobs", 600, "--load", 1.0, "--cluster", "4x8:v100")
    used = dovetail("simulate", "synth:helios", *given, "--order", "dovetail")
    assert used.code == 0, used.err
    found = dovetail("evaluate", "dovetail", "synth:helios", *given, "--policies", "saf")
    assert found.code == 0, found.err
    assert "another trace than in training" in found.err
