"""Predictions come from ended jobs alone, and say how wrong they are."""

from __future__ import annotations

import numpy as np

from dovetail.domain.jobs import JobColumns, Jobs
from dovetail.prediction import prediction_error
from dovetail.prediction.history import FIRST_GUESS, fresh, observe_row, predict_row


def jobs(count: int, **columns: object) -> Jobs:
    given = {"submit": np.arange(count), "run": np.ones(count), "gpus": np.ones(count)}
    return JobColumns(**(given | columns)).build()  # type: ignore[arg-type]


def test_without_history_the_guess_is_an_hour_or_the_limit() -> None:
    history = fresh(jobs(2, limit=[np.nan, 60.0]))
    assert predict_row(history, 0) == FIRST_GUESS
    assert predict_row(history, 1) == 60.0


def test_the_guess_is_the_median_of_the_users_own_jobs() -> None:
    history = fresh(jobs(8, user=["ann"] * 4 + ["bob"] * 4))
    for row, run in [(0, 10.0), (1, 30.0), (2, 20.0), (4, 500.0), (5, 700.0), (6, 600.0)]:
        observe_row(history, row, run)
    assert predict_row(history, 3) == 20.0
    assert predict_row(history, 7) == 600.0


def test_a_user_with_too_few_jobs_is_judged_by_wider_groups() -> None:
    history = fresh(jobs(5, user=["ann", "ann", "ann", "bob", "bob"]))
    for row, run in [(0, 10.0), (1, 20.0), (2, 30.0), (3, 999.0)]:
        observe_row(history, row, run)
    assert predict_row(history, 4) == 25.0  # median of all four


def test_the_guess_never_exceeds_the_limit() -> None:
    history = fresh(jobs(5, limit=[9.0] * 5))
    for row in range(3):
        observe_row(history, row, 1000.0)
    assert predict_row(history, 4) == 9.0


def test_old_run_times_are_forgotten() -> None:
    history = fresh(jobs(40))
    for row in range(20):
        observe_row(history, row, 10.0)
    for row in range(20, 35):
        observe_row(history, row, 90.0)
    assert predict_row(history, 39) == 90.0


def test_the_predictor_reports_its_own_error() -> None:
    error = prediction_error(jobs(200, run=np.full(200, 50.0), submit=np.arange(200) * 100.0))
    assert error.median_factor == 1.0
    assert error.too_short == 0.0
    assert error.median_spread == 1.0
    assert "within a factor of 1.0" in str(error)
