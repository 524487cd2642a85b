"""`dovetail mig train` and `dovetail mig evaluate`, end to end on short days."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dovetail.agents.evolution.search_file import FILE as SEARCH_FILE
from dovetail.cli.mig.train import mig_train
from dovetail.mig.agents import control_training, placement_training
from dovetail.mig.agents.catalogue import MIG_AGENTS
from dovetail.policies.learned.checkpoint import WEIGHTS_FILE
from tests.cli.conftest import Command

TINY = (
    "--cluster", "2xa100-40:1,12", "--hours", 1, "--epochs", 2, "--population", 4, "--batch", 1,
    "--days", 2, "--validation-days", 2,
)  # fmt: skip


@pytest.mark.parametrize(
    ("what", "use"),
    [("placement", "--placer"), ("repartition", "--repartitioner"), ("joint", "--control")],
)
def test_what_is_learned_is_used_and_evaluated_on_unseen_days(
    dovetail: Command, tmp_path: Path, what: str, use: str
) -> None:
    model, figures, report = tmp_path / "model", tmp_path / "e.json", tmp_path / "e.html"
    trained = dovetail("mig", "train", what, *TINY, "--out", model)
    assert trained.code == 0, trained.err
    assert f"{use} {model}" in trained.out

    used = dovetail("mig", "simulate", "--cluster", "2xa100-40:1,12", "--hours", 1, use, model)
    assert used.code == 0, used.err

    found = dovetail(
        *("mig", "evaluate", model, "--days", 2, "--placers", "eft"),
        *("--json", figures, "--report", report),
    )
    assert found.code == 0, found.err
    assert "Ratios of means, paired by day" in found.out
    rows = json.loads(figures.read_text())["rows"]
    assert [row["contender"]["placer"] for row in rows] == [str(model), "eft", "categorical-edf"]
    assert rows[0]["contender"]["repartitioner"] == ("none" if what == "placement" else str(model))
    assert report.read_text().startswith("<!DOCTYPE html>")


@pytest.mark.parametrize(
    ("what", "run"),
    [
        ("placement", placement_training._PlacementRun),
        ("repartition", control_training._ControlRun),
    ],
)
def test_a_training_that_was_interrupted_goes_on_to_the_same_result(
    dovetail: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    what: str,
    run: Any,
) -> None:
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    assert dovetail("mig", "train", what, *TINY, "--out", whole).code == 0
    go, steps = run.learn, []

    def once(self: object) -> float:
        steps.append(self)
        if len(steps) > 1:
            raise KeyboardInterrupt
        return float(go(self))

    with monkeypatch.context() as patched:
        patched.setattr(run, "learn", once)
        torn = dovetail("mig", "train", what, *TINY, "--out", parts)
    assert torn.code == 130
    assert f"interrupted: {parts} holds the best so far" in torn.err
    assert len(steps) == 2
    said = dovetail("mig", "train", what, *TINY, "--out", parts)
    assert said.code == 0, said.err
    assert re.search(r"epoch (\d+)/\1\b", said.out)
    for file, names in ((WEIGHTS_FILE, None), (SEARCH_FILE, ("mean", "variance", "path"))):
        with np.load(whole / file) as one, np.load(parts / file) as other:
            for name in names or one.files:
                np.testing.assert_array_equal(one[name], other[name])


def test_a_finished_training_is_not_repeated_and_another_one_is_refused(
    dovetail: Command, tmp_path: Path
) -> None:
    assert dovetail("mig", "train", "placement", *TINY, "--out", tmp_path).code == 0
    again = dovetail("mig", "train", "placement", *TINY, "--out", tmp_path)
    assert again.code == 0
    assert "on the validation days" not in again.out
    other = dovetail("mig", "train", "placement", *TINY, "--seed", 1, "--out", tmp_path)
    assert other.code == 2
    assert "other settings" in other.err


def test_the_help_tells_the_defaults_that_there_are() -> None:
    placement, control = MIG_AGENTS["placement"].config(), MIG_AGENTS["joint"].config()
    told = Path(mig_train.__code__.co_filename).read_text(encoding="utf-8")
    assert placement.epochs == control.epochs == 60
    assert "turns. Default: 60." in told
    assert f"placement {placement.population}, others {control.population}" in told
    assert f"placement {placement.batch}, others {control.batch}" in told
    slacks = [",".join(f"{number:g}" for number in agent.slack) for agent in (placement, control)]
    assert f"placement {slacks[0]}, others {slacks[1]}" in told
    assert f'"{placement.estimates}, others {control.estimates}."' in told
    assert (placement.days, control.days) == (32, 32)
    assert (placement.validation_days, control.validation_days) == (16, 16)


def test_mistakes_are_told_in_words(dovetail: Command, tmp_path: Path) -> None:
    out = ("--out", tmp_path / "model")
    for given, words in (
        (("train", "placment", *out), "did you mean 'placement'?"),
        (("train", "joint", "--cluster", "2xa100-40", "--cluster", "4xa100-40", *out), "name one"),
        (("train", "joint", "--cluster", "2xa10", *out), "unknown GPU model"),
        (("evaluate", tmp_path / "gone"), "not a readable checkpoint"),
        (("evaluate", "dovetail", "--seed", 899_999, "--days", 2), "give a smaller seed"),
    ):
        said = dovetail("mig", *given)
        assert said.code == 2, given
        assert words in said.err


def test_the_shipped_placement_can_be_evaluated_on_another_cluster(dovetail: Command) -> None:
    said = dovetail(
        *("mig", "evaluate", "dovetail", "--cluster", "2xa100-40-rounded:1,12"),
        *("--days", 1, "--placers", "eft"),
    )
    assert said.code == 0, said.err
    assert "dovetail on A" in said.out


def test_learned_parts_are_compared_with_and_without_each_other(
    dovetail: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert dovetail("mig", "train", "joint", *TINY, "--out", "joint").code == 0
    said = dovetail(
        *("mig", "compare", "--cluster", "2xa100-40:1,12", "--hours", 1, "--days", 2),
        *("--placers", "eft,joint", "--repartitioners", "none,joint", "--controls", "joint"),
        *("--json", "c.json"),
    )
    assert said.code == 0, said.err
    pairs = [
        (row["contender"]["placer"], row["contender"]["repartitioner"])
        for row in json.loads(Path("c.json").read_text())["rows"]
    ]
    # The control is the same as its two parts together: it is played once.
    assert pairs == [("eft", "none"), ("joint", "none"), ("eft", "joint"), ("joint", "joint")]
