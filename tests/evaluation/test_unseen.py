"""Two protocols for unseen jobs: the whole last part, and warm windows of it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dovetail.domain.errors import ConfigError
from dovetail.domain.estimates import Estimates
from dovetail.evaluation.run import Run
from dovetail.evaluation.unseen import Draws, evaluate_unseen, first_unseen
from dovetail.evaluation.warm_windows import evaluate_windows, window_starts
from dovetail.policies.policy import Policy
from dovetail.prediction import HISTORY
from dovetail.prediction.estimates import make_estimates
from dovetail.simulator import simulate_window, warm_window
from dovetail.traces.synthetic import WORKLOADS, synthesize
from tests.builders import cluster_of, job, trace_of

TRACE = synthesize(WORKLOADS["helios"], jobs=2000, seed=1, load=1.0, cluster_gpus=64)
CLUSTER = cluster_of("8x8")
SAF, FCFS = Policy("saf"), Policy("fcfs")


def test_unseen_results_are_means_over_the_last_jobs_and_over_draws() -> None:
    draws = Draws(TRACE, "noisy:1", seed=4, count=2)
    found = evaluate_unseen(TRACE, CLUSTER, [SAF, FCFS], draws)
    saf, fcfs = found.rows
    waits = [Run(TRACE, CLUSTER, FCFS, told).replay().wait[1800:] for told in draws.of(FCFS)]
    assert (found.jobs, found.draws) == (200, 2)
    assert fcfs.wait == pytest.approx(np.mean(waits))
    assert saf.wait_ratio.value == 1.0
    assert fcfs.wait_ratio.value == pytest.approx(saf.wait / fcfs.wait)
    assert fcfs.bsld_ratio.low <= fcfs.bsld_ratio.value <= fcfs.bsld_ratio.high


def test_no_policy_waits_less_than_the_bound() -> None:
    draws = Draws(TRACE, "exact", seed=0, count=3)
    for found in (
        evaluate_unseen(TRACE, CLUSTER, [SAF, FCFS], draws),
        evaluate_windows(TRACE, CLUSTER, [SAF, FCFS], draws, first=1000, count=3, length=300),
    ):
        for row in found.rows:
            assert row.wait >= found.bound.wait_mean
            assert row.bsld >= found.bound.bsld_mean
            if found.bound.wait_mean > 0:
                assert row.wait_over_bound == pytest.approx(row.wait / found.bound.wait_mean)
            else:
                assert math.isnan(row.wait_over_bound)


def test_noise_is_drawn_as_often_as_asked_and_estimates_without_noise_once() -> None:
    one, other = Draws(TRACE, "noisy:1", seed=7, count=2).of(SAF)
    assert one.seconds is not None
    assert other.seconds is not None
    assert not np.array_equal(one.seconds, other.seconds)
    assert np.array_equal(other.seconds, np.asarray(make_estimates(TRACE, "noisy:1", 8).seconds))
    assert len(Draws(TRACE, "exact", seed=7, count=5)) == 1
    with pytest.raises(ConfigError, match="seeds is 0"):
        Draws(TRACE, "noisy:1", seed=7, count=0)


@pytest.mark.parametrize(
    ("jobs", "windows", "size"),
    [(20_000, 10, 1024), (5_000, 10, 500), (1_000, 3, 256), (100, 1, 100), (1, 1, 1)],
)
def test_windows_become_shorter_then_fewer_where_jobs_are_few(
    jobs: int, windows: int, size: int
) -> None:
    starts, length = window_starts(50, 50 + jobs, 10, 1024)
    assert (len(starts), length) == (windows, size)
    assert starts[0] == 50
    assert starts[-1] + length <= 50 + jobs
    assert all(np.diff(starts) >= length)


def test_windows_start_from_the_state_of_the_trace_and_measure_their_own_jobs() -> None:
    draws = Draws(TRACE, "noisy:1", 3, 1)
    (told,) = draws.of(SAF)
    found = evaluate_windows(TRACE, CLUSTER, [SAF, FCFS], draws, first=1400, count=2, length=300)
    assert (found.jobs, found.groups) == (600, 2)
    base = Run(TRACE, CLUSTER, SAF, told).replay()
    means = []
    for start in (1400, 1700):
        window = warm_window(base, start, 300)
        assert window.carried > 0
        own = Estimates(told.name, base.estimate[window.rows])
        schedule = simulate_window(window, CLUSTER, *FCFS.parts(), own, HISTORY)
        means.append(schedule.wait[window.own].mean())
    assert found.rows[1].wait == pytest.approx(np.mean(means))
    assert found.rows[1].wait_ratio.value == pytest.approx(found.rows[0].wait / np.mean(means))


@pytest.mark.parametrize("spec", ["exact", "predicted"])
def test_windows_know_estimates_of_every_kind(spec: str) -> None:
    draws = Draws(TRACE, spec, seed=0, count=1)
    found = evaluate_windows(TRACE, CLUSTER, [SAF], draws, first_unseen(TRACE), 1, 100)
    assert found.jobs == 100
    assert math.isfinite(found.rows[0].wait)


def test_unseen_jobs_that_can_never_run_are_a_clear_error() -> None:
    trace = trace_of(*(job(submit=i, run=10, gpus=8) for i in range(20)))
    draws = Draws(trace, "exact", seed=0, count=1)
    with pytest.raises(ConfigError, match="none of the unseen jobs can run"):
        evaluate_unseen(trace, cluster_of("1x4"), [SAF], draws)
    with pytest.raises(ConfigError, match="none of the unseen jobs can run"):
        evaluate_windows(trace, cluster_of("1x4"), [SAF], draws, first=10)
