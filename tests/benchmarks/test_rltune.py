"""What the comparison of trainings keeps between two calls, and the tables made of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import forecasts, rltune
from benchmarks.rltune import beside_before
from benchmarks.rltune_tables import MEDIAN, chosen, knowledge, learned
from dovetail.domain.jobs import Jobs
from dovetail.prediction import predict
from dovetail.prediction.distribution import Distribution
from dovetail.traces.synthetic import WORKLOADS, synthesize

TRACE = synthesize(WORKLOADS["helios"], jobs=300, seed=1, load=1.0, cluster_gpus=64)


def test_a_prediction_is_made_once_and_read_after_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []

    def noted(jobs: Jobs, name: str) -> Distribution:
        made.append(name)
        return predict(jobs, name)

    monkeypatch.setattr(forecasts, "FOLDER", tmp_path)
    monkeypatch.setattr(forecasts, "predict", noted)
    first = forecasts.stored_forecast(TRACE, "median")
    again = forecasts.stored_forecast(TRACE, "median")
    assert made == ["median"]
    assert np.array_equal(first.quantiles, again.quantiles)
    forecasts.stored_forecast(TRACE.slice(0, 200), "median")  # another trace
    assert made == ["median", "median"]


def test_what_is_finished_is_not_measured_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured: list[tuple[str, ...]] = []

    def measure(site: Any, arms: tuple[str, ...], seeds: int) -> Iterator[dict[str, Any]]:
        measured.append(arms)
        yield {"trace_digest": "", "gate": {f"{arm}-0": {} for arm in arms if arm != "choice"}}

    monkeypatch.setattr(rltune, "RESULT", tmp_path / "rltune.json")
    monkeypatch.setattr(rltune, "open_site", lambda name: None)
    monkeypatch.setattr(rltune, "measure_trace", measure)
    for arms in (["choice"], ["choice"], ["choice", "evolution"], ["choice"]):
        rltune.run(["kth"], arms, seeds=1)
    assert measured == [("choice",), ("choice", "evolution")]
    assert rltune.run(["pai"], ["choice"], seeds=1)["traces"].keys() == {"kth", "pai"}


def row(policy: str, wait: float, bsld: float) -> dict[str, Any]:
    return {"policy": policy, "wait": wait, "bsld": bsld}


def test_tables_say_what_knowledge_is_worth_and_how_seeds_stand_to_the_choice() -> None:
    predicted = [row("choice", 100, 4), row("hand-set index", 90, 4)]
    predicted += [row("ppo-0", 100, 8), row("ppo-1", 400, 8)]
    found = {
        "cluster": "1x8",
        "choice": {
            "order": "saf",
            "placement": "best-fit",
            "estimates": "predicted:mixture,order=mean,reserve=q90",
            "table": [
                {"candidate": "saf@best-fit (mean, reservations q90)", "wait": -0.2, "bsld": -0.1}
            ],
        },
        "gate": {
            "ppo-0": {"gain": 0.1, "passed": False},
            "ppo-1": {"gain": 0.3, "passed": True},
        },
        "knowledge": {
            "predicted": {"unseen_jobs": 10, "rows": predicted},
            "exact": {"rows": [row("choice", 80, 2)]},
            MEDIAN: {"rows": [row("choice", 200, 16)]},
        },
    }
    traces = {"kth": found}
    assert "| saf@best-fit (mean, reservations q90) | -20% / -10% |" in chosen(traces)[2]
    assert knowledge(traces)[2].endswith("| +25% | -75% |")
    assert learned(traces)[2] == "| kth | hand-set index | 1 |  | -10% / +0% |  |  |"
    assert learned(traces)[3] == "| kth | ppo | 2 | +0.20 | +100% / +100% | +300% / +100% | 1 |"


def test_arms_that_were_measured_before_stay_beside_others_while_the_choice_is_the_same() -> None:
    def part(choice: str, *arms: str) -> dict[str, Any]:
        rows = [{"policy": arm} for arm in ("choice", *arms)]
        gate: dict[str, Any] = {arm: {} for arm in arms}
        knowledge = {"predicted": {"rows": rows}}
        return {"trace_digest": "d", "choice": choice, "gate": gate, "knowledge": knowledge}

    both = beside_before(part("saf", "b-0"), part("saf", "a-0", "b-0"))
    assert sorted(both["gate"]) == ["a-0", "b-0"]
    rows = [row["policy"] for row in both["knowledge"]["predicted"]["rows"]]
    assert rows == ["choice", "b-0", "a-0"]
    assert beside_before(part("sjf", "b-0"), both) == part("sjf", "b-0")
    assert beside_before(part("saf", "b-0"), {}) == part("saf", "b-0")
