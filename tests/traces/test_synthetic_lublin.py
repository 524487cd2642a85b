"""The Lublin-Feitelson model: the moments of its laws must show in what is drawn."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest

from dovetail.domain.errors import ConfigError
from dovetail.domain.jobs import Jobs
from dovetail.traces.synthetic import WORKLOADS, LublinWorkload, synthesize
from dovetail.traces.synthetic.limits import Limits
from dovetail.traces.synthetic.lublin import Gamma
from dovetail.traces.synthetic.streams import Streams


@cache
def drawn(processors: int = 128) -> Jobs:
    return synthesize(LublinWorkload(processors=processors), 50_000, 0).jobs


def test_a_quarter_of_the_jobs_is_serial_and_most_others_are_powers_of_two() -> None:
    gpus = drawn().gpus
    power = (gpus & (gpus - 1)) == 0
    assert (gpus == 1).mean() == pytest.approx(0.244, abs=0.01)
    # More than 0.576 + 0.244: sizes that are not meant to be powers of two can be.
    assert 0.82 <= power.mean() <= 0.90


def test_sizes_are_log_uniform_with_a_knee_below_the_size_of_the_machine() -> None:
    gpus = drawn().gpus
    parallel = np.log2(gpus[gpus > 1])
    below_knee = (parallel < 4.5).mean()
    assert below_knee == pytest.approx(0.86, abs=0.02)
    assert gpus.max() == 128


@pytest.mark.parametrize("processors", [1, 2, 6, 100, 500])
def test_no_job_exceeds_the_machine(processors: int) -> None:
    gpus = synthesize(LublinWorkload(processors=processors), 5_000, 0).jobs.gpus
    assert gpus.max() <= processors


def test_serial_run_times_are_the_mixture_of_two_gammas() -> None:
    jobs = drawn()
    log_run = np.log(jobs.run[jobs.gpus == 1])
    share = 0.78 - 0.0054
    # Redrawing beyond e^12 s takes a little off the upper gamma's neighbours; whole seconds
    # lift the shortest jobs.
    assert log_run.mean() == pytest.approx(share * 4.2 * 0.94 + (1 - share) * 312 * 0.03, abs=0.05)
    assert log_run.max() <= 12.01


def test_larger_jobs_run_longer() -> None:
    jobs = drawn()
    small, large = jobs.run[jobs.gpus <= 2], jobs.run[jobs.gpus >= 64]
    assert np.median(large) > 3 * np.median(small)


def test_gaps_in_busy_time_follow_the_gamma_law_of_their_logarithm() -> None:
    due = LublinWorkload().draw(50_000, Streams(0), largest=128).due
    log_gap = np.log(np.diff(due))
    assert log_gap.mean() == pytest.approx(10.2303 * 1.0225 * 0.4871, rel=0.01)
    assert log_gap.std() == pytest.approx(math.sqrt(10.2303 * 1.0225) * 0.4871, rel=0.03)
    assert log_gap.max() <= 13.001


def test_the_day_peaks_in_the_afternoon_and_is_calm_before_dawn() -> None:
    hour = (drawn().submit // 3600 % 24).astype(np.int64)
    counts = np.bincount(hour, minlength=24)
    assert 11 <= int(counts.argmax()) <= 16
    assert 2 <= int(counts.argmin()) <= 6


def test_gamma_mass_agrees_with_the_exponential_law() -> None:
    assert Gamma(1.0, 2.0).mass(1.0, 3.0) == pytest.approx(
        math.exp(-0.5) - math.exp(-1.5), rel=1e-4
    )


def test_limits_and_users_are_unknown_unless_asked_for() -> None:
    assert np.isnan(drawn().limit).all()
    assert (drawn().user.codes == -1).all()
    limited = synthesize(LublinWorkload(limits=Limits()), 1_000, 0).jobs
    assert (limited.limit >= limited.run).all()


def test_a_given_cluster_is_the_machine_that_the_model_is_drawn_for() -> None:
    jobs = synthesize(WORKLOADS["lublin"], 20_000, 0, cluster_gpus=32).jobs
    assert jobs.gpus.max() == 32


def test_a_machine_without_processors_is_refused() -> None:
    with pytest.raises(ConfigError, match="processors is 0"):
        LublinWorkload(processors=0)
