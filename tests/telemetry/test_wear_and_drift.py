"""A slow GPU is found soon, a sound one left alone; a shifted workload is noticed."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail.domain.errors import ConfigError
from dovetail.domain.jobs import Floats, JobColumns
from dovetail.telemetry.drift import DriftReference, DriftVerdict, workload_columns
from dovetail.telemetry.wear import WearRule, WearWatch, scatter


def jobs_until_found(sigma: float, random: np.random.Generator) -> int:
    """Fifty jobs at full speed, then the GPU falls to half of it."""
    watch = WearWatch(WearRule(sigma))
    for log in random.normal(0.0, sigma, 50):
        watch.job_ended("gpu", 100.0, 100.0 * math.exp(log))
    count = 0
    while not watch.speeds():
        count += 1
        watch.job_ended("gpu", 100.0, 200.0 * math.exp(random.normal(0.0, sigma)))
    return count


@pytest.mark.parametrize(("sigma", "median"), [(0.3, 3), (0.6, 10), (1.0, 26)])
def test_a_gpu_at_half_speed_is_found_within_the_stated_number_of_jobs(
    sigma: float, median: int
) -> None:
    random = np.random.default_rng(1)
    assert np.median([jobs_until_found(sigma, random) for _ in range(300)]) <= median


@pytest.mark.parametrize("sigma", [0.3, 0.6, 1.0])
def test_a_sound_gpu_is_suspected_at_most_once_in_ten_thousand_jobs(sigma: float) -> None:
    random = np.random.default_rng(2)
    watch, alarms, jobs = WearWatch(WearRule(sigma)), 0, 100_000
    for log in random.normal(0.0, sigma, jobs):
        watch.job_ended("gpu", 100.0, 100.0 * math.exp(log))
        if watch.speeds():
            alarms, watch = alarms + 1, WearWatch(WearRule(sigma))
    # Ten are expected; more than eighteen would happen once in a hundred runs.
    assert alarms <= 18


def test_a_repaired_gpu_is_cleared() -> None:
    watch = WearWatch(WearRule(0.3))
    for _ in range(50):
        watch.job_ended("gpu", 100.0, 200.0)
    assert watch.speeds()["gpu"] == pytest.approx(0.5)
    for _ in range(8):
        watch.job_ended("gpu", 100.0, 100.0)
    assert watch.speeds() == {}
    assert watch.sentence("gpu") == "gpu runs as fast as predicted"


def test_one_job_alone_condemns_no_gpu() -> None:
    watch = WearWatch(WearRule(0.3))
    watch.job_ended("gpu", 1.0, 1e9)
    assert watch.speeds() == {}


@given(st.floats(), st.floats())
def test_no_pair_of_times_breaks_the_watch(predicted: float, actual: float) -> None:
    watch = WearWatch()
    for _ in range(3):
        watch.job_ended("gpu", predicted, actual)
    assert all(0.0 < speed <= 1.0 for speed in watch.speeds().values())


def test_the_scatter_hardly_moves_with_slow_gpus() -> None:
    random = np.random.default_rng(3)
    logs = random.normal(0.0, 0.5, 10_000)
    logs[:500] += math.log(2.0)
    assert scatter(logs) == pytest.approx(0.5, rel=0.08)


def bursty(random: np.random.Generator, count: int, shift: float = 0.0) -> Floats:
    """Like a history: the same kind of job many times in a row, and levels that wander."""
    level = np.repeat(random.normal(0.0, 1.0, count // 20 + 1), 20)[:count]
    return np.asarray(level + random.normal(0.0, 0.5, count) + shift)


def test_an_ordinary_week_is_no_drift_and_a_shifted_one_is() -> None:
    random = np.random.default_rng(4)
    seen = DriftReference.of({"run": bursty(random, 20_000)})
    weeks = [seen.compare({"run": bursty(random, 2500)}).verdict for _ in range(20)]
    assert weeks.count(DriftVerdict.DRIFTED) == 0
    shifted = seen.compare({"run": bursty(random, 2500, shift=1.5)})
    assert shifted.verdict is DriftVerdict.DRIFTED
    assert shifted.sentence().startswith("drifted: run differs by")


def test_too_few_rows_say_nothing() -> None:
    seen = DriftReference.of({"run": np.arange(1000.0)})
    found = seen.compare({"run": np.arange(10.0)})
    assert found.verdict is DriftVerdict.UNKNOWN
    assert math.isnan(found.distance)


def test_whole_numbers_keep_equal_values_together() -> None:
    mixed = np.random.default_rng(5).permutation(np.repeat([0.0, 1.0, 3.0], [800, 150, 50]))
    seen = DriftReference.of({"gpus": mixed})
    assert seen.compare({"gpus": np.repeat([0.0, 1.0, 3.0], [160, 30, 10])}).distance < 0.01
    assert seen.compare({"gpus": np.full(200, 3.0)}).verdict is DriftVerdict.DRIFTED


def test_a_reference_survives_a_card_and_a_damaged_one_is_refused() -> None:
    seen = DriftReference.of({"run": np.arange(1000.0)})
    again = DriftReference.from_dict(seen.to_dict())
    recent = {"run": np.arange(500.0)}
    assert again.compare(recent) == seen.compare(recent)
    damaged: list[object] = [
        3,
        {"run": {}},
        {"run": {"edges": [1], "shares": [1], "usual": 0}},
        {"run": None},
    ]
    for bad in damaged:
        with pytest.raises(ConfigError):
            DriftReference.from_dict(bad)


def test_a_trace_gives_its_columns() -> None:
    jobs = JobColumns(submit=[0, 10], run=[60, 60], gpus=[1, 8]).build()
    found = workload_columns(jobs)
    assert found["gpus"].tolist() == [0.0, 3.0]
    assert np.isnan(found["limit"]).all()
