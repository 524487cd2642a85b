"""Comparisons are paired, repeatable and survive Ctrl-C."""

from __future__ import annotations

import json
import math
from functools import cache
from typing import Any

import pytest

from dovetail.domain.cluster import Cluster
from dovetail.domain.errors import ConfigError, TraceError
from dovetail.domain.metrics import summary
from dovetail.domain.trace import Trace
from dovetail.evaluation.comparison import Comparison, compare
from dovetail.evaluation.protocols import TraceWindow
from dovetail.evaluation.run import Run
from dovetail.policies.policy import Policy
from dovetail.prediction.estimates import default_estimates, make_estimates
from dovetail.traces.synthetic import WORKLOADS, synthesize
from tests.builders import job, trace_of

CLUSTER = Cluster.parse("8x8")
POLICIES = ("fcfs", "saf", "saf+none")


@cache
def busy_trace() -> Trace:
    return synthesize(WORKLOADS["helios"], jobs=400, seed=3, load=1.1, cluster_gpus=64)


def windows(**options: Any) -> Comparison:
    options = {"estimates": "noisy:1", "sequences": 5, "length": 100, **options}
    return compare(busy_trace(), CLUSTER, POLICIES, **options)


def without_times(comparison: Comparison) -> Any:
    data = json.loads(comparison.to_json())
    for row in data["rows"]:
        del row["metrics"]["sim_seconds"], row["per_window"]["sim_seconds"]
    return data


def test_without_windows_a_row_is_the_summary_of_the_whole_trace() -> None:
    result = compare(busy_trace(), CLUSTER, POLICIES, estimates="exact")
    exact = make_estimates(busy_trace(), "exact")
    alone = summary(Run(busy_trace(), CLUSTER, Policy("saf"), exact).replay())
    for key in alone.keys() - {"config", "sim_seconds"}:
        assert result["saf+easy"].metrics[key] == alone[key], key
    assert result["saf+easy"].wait_percentiles[95] == pytest.approx(alone["wait_p95"])


def test_every_policy_gets_the_same_windows_and_estimates() -> None:
    result = windows()
    noisy = make_estimates(busy_trace(), "noisy:1")
    for row in result.rows:
        for number, start in enumerate(result.config["window_starts"]):
            whole = Run(busy_trace(), CLUSTER, row.policy, noisy)
            alone = summary(TraceWindow(start, start + 100).cut(whole).replay())
            assert row.per_window["wait_mean"][number] == alone["wait_mean"]
        assert row.metrics["wait_mean"] == pytest.approx(sum(row.per_window["wait_mean"]) / 5)


def test_the_number_of_workers_changes_nothing() -> None:
    assert without_times(windows(workers=1)) == without_times(windows(workers=2))


def test_another_seed_draws_other_windows() -> None:
    assert windows(seed=1).config["window_starts"] != windows().config["window_starts"]


def test_the_bound_is_below_every_row() -> None:
    result = windows(estimates="exact")
    for row in result.rows:
        assert result.bound.wait_mean <= row.metrics["wait_mean"]
        assert result.bound.bsld_mean <= row.metrics["bsld_mean"]


def test_progress_counts_every_run() -> None:
    seen: list[tuple[int, int, str]] = []
    windows(progress=lambda *report: seen.append(report))
    assert [done for done, _, _ in seen] == list(range(1, 16))
    assert {total for _, total, _ in seen} == {15}
    assert {label for _, _, label in seen} == {"fcfs+easy", "saf+easy", "saf+none"}


@pytest.mark.parametrize("workers", [1, 2])
def test_after_an_interrupt_the_windows_that_all_policies_finished_are_kept(workers: int) -> None:
    def interrupt(done: int, total: int, label: str) -> None:
        if done == 8:
            raise KeyboardInterrupt

    result = windows(progress=interrupt, workers=workers)
    assert not result.complete
    kept = {len(row.per_window["wait_mean"]) for row in result.rows}
    assert len(kept) == 1
    assert 1 <= kept.pop() <= 2
    assert len(result.rows) == 3


def test_after_an_interrupt_on_the_whole_trace_the_finished_policies_are_kept() -> None:
    def interrupt(done: int, total: int, label: str) -> None:
        if done == 2:
            raise KeyboardInterrupt

    result = compare(busy_trace(), CLUSTER, POLICIES, "exact", progress=interrupt)
    assert [row.label for row in result.rows] == ["fcfs+easy", "saf+easy"]
    assert not result.complete


def test_an_interrupt_before_anything_is_finished_is_passed_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupted(*anything: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("dovetail.evaluation.comparison.perform_all", interrupted)
    with pytest.raises(KeyboardInterrupt):
        windows()


def test_best_knows_which_way_a_metric_points() -> None:
    result = windows()
    waits = {row.label: row.metrics["wait_mean"] for row in result.rows}
    assert result.best("wait_mean").label == min(waits, key=lambda label: waits[label])
    used = [row.metrics["gpu_utilization"] for row in result.rows]
    assert result.best("gpu_utilization").metrics["gpu_utilization"] == max(used)
    with pytest.raises(ConfigError, match="no metric"):
        result.best("wait_maen")


def test_labels_name_the_placement_only_where_it_differs() -> None:
    result = compare(busy_trace(), CLUSTER, ["saf", "saf@fgd", "saf+easy"], "exact")
    assert [row.label for row in result.rows] == ["saf+easy@best-fit", "saf+easy@fgd"]


def test_the_json_says_what_it_rests_on_and_is_valid_without_any_job_that_ran() -> None:
    impossible = trace_of(job(0, 10, 65), job(1, 10, 65), name="wide")
    result = compare(impossible, CLUSTER, ["fcfs"], estimates="exact")
    data = json.loads(result.to_json())
    assert data["rows"][0]["metrics"]["wait_mean"] is None
    assert data["rows"][0]["metrics"]["unfinished"] == 2
    assert data["config"]["trace_digest"] == impossible.digest()
    assert data["config"]["cluster_digest"] == CLUSTER.digest()
    assert {"seed", "version", "estimates", "policies"} <= data["config"].keys()
    assert math.isnan(result.best("wait_mean").metrics["wait_mean"])


def test_limits_are_the_default_estimates_only_if_every_job_has_one() -> None:
    assert default_estimates(trace_of(job(limit=60.0), job(limit=5.0))) == "limit"
    assert default_estimates(trace_of(job(limit=60.0), job())) == "predicted"


def test_what_makes_no_sense_is_refused_before_anything_runs() -> None:
    with pytest.raises(ConfigError, match="no policy"):
        compare(busy_trace(), CLUSTER, [])
    with pytest.raises(ConfigError, match="workers"):
        windows(workers=0)
    with pytest.raises(ConfigError, match="sequences"):
        windows(sequences=0)
    with pytest.raises(TraceError, match="too few"):
        windows(length=401)
