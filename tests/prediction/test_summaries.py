"""One number for a distribution: Smith's rule beside plain means."""

from __future__ import annotations

import numpy as np
import pytest

from dovetail.domain.estimates import EARLY, Estimates
from dovetail.prediction.distribution import LEVELS, Distribution
from dovetail.prediction.estimates import estimates_from
from dovetail.prediction.request import Request, Summary


def told(summary: str, *rows: list[float]) -> list[float]:
    found: list[float] = Summary(summary).of(Distribution.of_quantiles(np.array(rows))).tolist()
    return found


def test_of_a_run_time_that_is_known_every_summary_is_the_run_time() -> None:
    for name in ("log-mean", "mean", "median", "q80", "gittins", "smith"):
        assert told(name, [600.0] * len(LEVELS)) == pytest.approx([600.0], rel=0.06)


def test_smith_puts_a_job_that_may_fail_at_once_before_one_as_long_in_the_mean() -> None:
    fails_often = [20.0] * 5 + [1000.0] * 6
    mean = told("mean", fails_often)[0]
    unsure, sure = told("smith", fails_often, [mean] * len(LEVELS))
    assert unsure < 0.5 * sure


def test_smith_is_the_exchange_that_costs_least() -> None:
    """Two jobs on one machine: the order by size over cost has the least expected slowdown."""
    random = np.random.default_rng(1)
    for _ in range(50):
        rows = np.sort(np.exp(random.normal(6.0, 2.0, (2, len(LEVELS)))), axis=1) + 1.0
        forecast = Distribution.of_quantiles(rows)
        edges = np.concatenate(([0.0], 0.5 * (LEVELS[1:] + LEVELS[:-1]), [1.0]))
        cost = (1.0 / np.maximum(rows, 10.0)) @ np.diff(edges)
        first_waits_not = forecast.mean[0] * cost[1]  # the second waits for the first
        second_waits_not = forecast.mean[1] * cost[0]
        size = Summary("smith").of(forecast)
        assert (size[0] < size[1]) == (first_waits_not < second_waits_not)


def test_what_is_told_beside_estimates_leads_from_one_summary_to_another() -> None:
    random = np.random.default_rng(2)
    rows = np.sort(np.exp(random.normal(6.0, 2.0, (20, len(LEVELS)))), axis=1) + 1.0
    forecast = Distribution.of_quantiles(rows)
    found = estimates_from(forecast, Request.parse("predicted:mixture,order=log-mean"))
    assert np.allclose(found.seconds * np.exp(found.skew), Summary("mean").of(forecast))
    assert np.allclose(found.seconds * np.exp(found.margin), Summary("q80").of(forecast))
    assert np.allclose(found.spread, 0.5 * np.log(rows[:, 9] / rows[:, 1]))
    some = found.take(np.array([3, 5]))
    assert np.array_equal(some.skew, found.skew[[3, 5]])
    assert np.array_equal(some.margin, found.margin[[3, 5]])


def test_one_number_has_no_spread_skew_or_margin() -> None:
    told = Estimates("limit", np.full(3, 60.0))
    assert not np.any([told.spread, told.skew, told.margin])


def drawn(count: int) -> Distribution:
    random = np.random.default_rng(4)
    return Distribution.of_quantiles(
        np.sort(np.exp(random.normal(6.0, 2.0, (count, len(LEVELS)))), axis=1) + 1.0
    )


@pytest.mark.parametrize("level", [0.5, 0.8, 0.9])
def test_all_of_a_run_given_how_long_it_has_lasted_is_that_and_what_remains(level: float) -> None:
    forecast = drawn(40)
    for share in (0.0, 0.3, 1.0, 50.0):
        elapsed = share * forecast.mean
        expected = elapsed + forecast.remaining(elapsed).quantile(level)
        assert np.allclose(forecast.whole_given(elapsed, level), expected)


@pytest.mark.parametrize("reserve", ["q80", "median", "q20", "mean", "gittins"])
def test_revisions_are_what_is_believed_of_a_job_that_runs_on_and_never_shrink(
    reserve: str,
) -> None:
    forecast = drawn(40)
    told = estimates_from(forecast, Request.parse(f"predicted:mixture,reserve={reserve}"))
    believed = np.column_stack((told.reserve, told.revisions))
    assert np.all(np.diff(believed, axis=1) >= 0.0)
    assert np.all(np.diff(believed[:, len(EARLY) :], axis=1) > 0.0)
    summary = Summary(reserve)
    for at, share in enumerate(EARLY):
        elapsed = share * told.reserve
        expected = elapsed + summary.of(forecast.remaining(elapsed))
        assert np.allclose(believed[:, at + 1], np.maximum(believed[:, at], expected))
    outlived = believed[:, len(EARLY)]
    later = outlived + np.maximum(summary.of(forecast.remaining(outlived)), 1.0)
    assert np.allclose(believed[:, len(EARLY) + 1], later)
