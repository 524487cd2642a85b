"""What the scheduler is told: each kind of estimate, and what is said of a wrong one."""

from __future__ import annotations

import numpy as np
import pytest

from dovetail.domain.errors import ConfigError, TraceError
from dovetail.domain.jobs import Floats, JobColumns
from dovetail.domain.trace import Trace
from dovetail.prediction.estimates import make_estimates


def trace(run: list[float], limit: list[float] | None = None) -> Trace:
    count = len(run)
    columns = JobColumns(submit=list(range(count)), run=run, gpus=[1] * count, limit=limit)
    return Trace(columns.build())


def seconds(of: Trace, spec: str, seed: int = 0) -> Floats:
    given = make_estimates(of, spec, seed).seconds
    assert given is not None
    return given


def test_exact_estimates_are_the_run_times_but_at_least_a_second() -> None:
    assert seconds(trace([0, 0.5, 60]), "exact").tolist() == [1, 1, 60]


def test_limits_are_what_the_users_asked_for() -> None:
    assert seconds(trace([5, 60], [0.5, 3600]), "limit").tolist() == [1, 3600]


def test_unknown_limits_are_counted_and_another_kind_is_suggested() -> None:
    with pytest.raises(TraceError, match=r"2 of 3 jobs .* noisy:1 or predicted"):
        make_estimates(trace([1, 2, 3], [np.nan, 5, np.nan]), "limit")


def test_predicted_estimates_are_left_to_the_simulator() -> None:
    estimates = make_estimates(trace([5]), "predicted")
    assert (estimates.name, estimates.seconds) == ("predicted", None)


def test_noise_has_the_sigma_asked_for_around_the_run_time() -> None:
    error = np.log(seconds(trace([1e6] * 20_000), "noisy:0.5") / 1e6)
    assert error.mean() == pytest.approx(0.0, abs=0.02)
    assert error.std() == pytest.approx(0.5, rel=0.03)


def test_the_noise_of_a_job_depends_on_seed_and_row_only() -> None:
    long, short = trace([100.0, 200.0, 300.0]), trace([100.0, 999.0])
    assert seconds(long, "noisy:1")[0] == seconds(short, "noisy:1")[0]
    assert seconds(long, "noisy:1", seed=1)[0] != seconds(long, "noisy:1")[0]


def test_noise_keeps_at_least_a_second_and_stays_finite() -> None:
    given = seconds(trace([0.0, 10.0] * 500), "noisy:1000")
    assert given.min() == 1
    assert np.isfinite(given).all()


def test_noise_of_zero_is_exact() -> None:
    assert seconds(trace([7.0, 9.0]), "noisy:0").tolist() == [7, 9]


def test_the_name_says_the_kind_and_its_sigma() -> None:
    assert make_estimates(trace([5]), "noisy:0.50").name == "noisy:0.5"
    assert make_estimates(trace([5]), "exact").name == "exact"


@pytest.mark.parametrize(
    "spec", ["", "exakt", "noisy", "noisy:", "noisy:x", "noisy:-1", "noisy:inf"]
)
def test_a_wrong_spec_is_answered_with_what_to_write(spec: str) -> None:
    with pytest.raises(ConfigError, match=r"write exact, limit, noisy:0\.5"):
        make_estimates(trace([5]), spec)


def test_a_negative_seed_is_refused() -> None:
    with pytest.raises(ConfigError, match="seed is -1"):
        make_estimates(trace([5]), "noisy:1", seed=-1)
