"""`dovetail predict`: scores on the screen, in a page and as JSON; one job explained."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from dovetail.domain.jobs import JobColumns
from dovetail.domain.trace import Trace
from dovetail.traces.writer import write_trace
from tests.cli.conftest import Command


@pytest.fixture
def history(tmp_path: Path) -> Path:
    random = np.random.default_rng(0)
    columns = JobColumns(
        submit=np.arange(400) * 50.0,
        run=np.where(np.arange(400) % 2, 600.0, 60.0) * random.lognormal(0, 0.1, 400),
        gpus=[1] * 400,
        user=["<b>ann</b>", "bob"] * 200,
    )
    path = tmp_path / "history.parquet"
    write_trace(Trace(columns.build(), "<script>history"), path)
    return path


def test_scores_are_shown_and_written(history: Path, tmp_path: Path, dovetail: Command) -> None:
    page, data = tmp_path / "page.html", tmp_path / "scores.json"
    shown = dovetail(
        "predict", history, "--predictors", "median,history", "--report", page, "--json", data
    )
    assert "pinball loss" in shown.out
    assert "history" in shown.out
    found = json.loads(data.read_text())
    assert found["jobs"] == 400
    assert found["scores"]["history"]["last 80 %"]["within_twofold"] > 0.95
    text = page.read_text()
    assert "Calibration" in text
    assert "<script>history" not in text


def test_one_job_is_explained_by_alike_jobs(history: Path, dovetail: Command) -> None:
    shown = dovetail("predict", history, "--predictors", "history", "--job", "301")
    assert "80 % between" in shown.out
    assert "same user" in shown.out


def test_an_unknown_job_or_predictor_is_told(history: Path, dovetail: Command) -> None:
    assert "no job 'x'" in dovetail("predict", history, "--job", "x").err
    wrong = dovetail("predict", history, "--predictors", "hystory").err
    assert "did you mean 'history'" in wrong
