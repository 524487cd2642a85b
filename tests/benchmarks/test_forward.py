"""What is chosen before a tenth knows nothing of it, and how it is compared."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import forward
from benchmarks.rltune import HEURISTICS
from benchmarks.rltune import WORKLOADS as TRACES
from dovetail.agents.choice.candidates import PolicyCandidate
from dovetail.agents.history import Site
from dovetail.domain.cluster import Cluster
from dovetail.prediction import predict
from dovetail.traces.synthetic import WORKLOADS, synthesize

TRACE = synthesize(WORKLOADS["helios"], jobs=3_000, seed=1, load=1.0, cluster_gpus=64)
FORECAST = predict(TRACE.jobs, "median")
SITE = Site(TRACE, Cluster.parse("8x8:v100"))


def test_a_choice_knows_nothing_of_what_comes_after() -> None:
    before, history = forward.open_before(SITE, FORECAST, 1_800)
    assert len(before.trace) == 2_000  # its last tenth, which no training reads, is not reached
    assert len(history.trace) == 1_800
    assert history.forecast is not None
    assert len(history.forecast.mean) == 1_800


def test_where_nobody_waits_it_is_the_usual_order() -> None:
    idle = Site(TRACE, Cluster.parse("1000x8:v100"))
    _, history = forward.open_before(idle, FORECAST, 1_800)
    assert forward.choose_before(history).order == "saf"


def test_best_of_all_is_another_for_each_measure() -> None:
    figures = {name: [900.0, 5.0] for name in HEURISTICS}
    figures |= {"choice": [540.0, 4.0], "sjf": [240.0, 5.0], "fcfs": [900.0, 2.0]}
    wait, bsld = forward.compared(figures, "best of these")
    assert wait == pytest.approx(math.log(600 / 300))
    assert bsld == pytest.approx(math.log(4.0 / 2.0))
    assert forward.compared(figures, "saf")[1] == pytest.approx(math.log(4.0 / 5.0))


def test_a_row_for_each_trace_and_one_with_intervals() -> None:
    def tenth(choice: float) -> dict[str, Any]:
        names = (*HEURISTICS, "exact", "median")
        figures = {name: [940.0, 10.0] for name in names} | {"choice": [choice, 10.0]}
        return {"tenth": 5, "choice": "saf@best-fit", "figures": figures}

    rows = forward.tables({"kth": [tenth(940.0), tenth(440.0)], "pai": [tenth(440.0)] * 2})
    assert rows[2].startswith("| kth | saf 2 | -29%; +0% |")
    assert rows[3].startswith("| pai | saf 2 | -50%; +0% |")
    # Two traces count alike: the mean of 0.35 and 0.69; within kth either half can be drawn alone.
    assert "| -41% [-50, -29]; +0% [+0, +0] |" in rows[4]


def test_a_trace_that_is_kept_is_not_measured_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured: list[str] = []

    def measure(site: str, arms: tuple[str, ...]) -> list[dict[str, Any]]:
        measured.append(site)
        return [{"tenth": 5}]

    monkeypatch.setattr(forward, "RESULT", tmp_path / "forward.json")
    monkeypatch.setattr(forward, "open_workload", lambda workload: workload.file)
    monkeypatch.setattr(forward, "measure_trace", measure)
    forward.run(["kth"])
    assert forward.run(["kth", "pai"])["traces"].keys() == {"kth", "pai"}
    assert measured == [TRACES[name].file for name in ("kth", "pai")]


def test_replays_give_every_tenth_of_alldraws() -> None:
    replays = forward.Replays(SITE, FORECAST)
    fcfs = PolicyCandidate("fcfs", "exact", "best-fit")
    found, recorded = replays.of(fcfs), replays.draws[0].replay(fcfs)
    assert np.shape(found) == (10, 2)
    assert len({draw.trace.jobs.submit[-1] for draw in replays.draws}) == forward.DRAWS
    assert found[9][0] != pytest.approx(recorded.wait[2_700:].mean())  # a mean over four
