"""Predictions come from ended jobs alone, and say how wrong they are."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail.domain.estimates import Estimates
from dovetail.domain.jobs import JobColumns, Jobs
from dovetail.domain.policy import Backfill
from dovetail.policies.ordering import ORDERINGS
from dovetail.policies.placement import PLACEMENTS
from dovetail.prediction import HISTORY, prediction_error
from dovetail.prediction.history import FIRST_GUESS, fresh, observe_row, predict_row
from dovetail.simulator import simulate
from tests.builders import cluster_of, job, trace_of


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


@settings(max_examples=40, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10_000), change=st.floats(1.0, 500.0))
def test_a_job_that_still_runs_never_influences_a_prediction(seed: int, change: float) -> None:
    random = np.random.default_rng(seed)
    rows = [
        job(float(i * 5), float(random.integers(1, 100)), int(random.integers(1, 5)),
            user="ab"[random.integers(2)])
        for i in range(20)
    ]  # fmt: skip

    def estimates(runs: list[float]) -> tuple[np.ndarray, np.ndarray]:
        changed = [
            job(r.submit, run, r.gpus, user=r.user) for r, run in zip(rows, runs, strict=True)
        ]
        schedule = simulate(
            trace_of(*changed), cluster_of("2x4"), ORDERINGS["fcfs"], PLACEMENTS["best-fit"],
            Backfill.EASY, Estimates("predicted", None), HISTORY,
        )  # fmt: skip
        return schedule.estimate, schedule.end

    runs = [row.run for row in rows]
    before, ends = estimates(runs)
    longer = runs.copy()
    longer[10] += change
    after, _ = estimates(longer)
    # Until job 10 has ended in the first world, both worlds must predict the same.
    same = np.array([row.submit for row in rows]) < ends[10]
    assert np.array_equal(before[same], after[same])


def test_the_predictor_reports_its_own_error() -> None:
    error = prediction_error(jobs(200, run=np.full(200, 50.0), submit=np.arange(200) * 100.0))
    assert error.median_factor == 1.0
    assert error.too_short == 0.0
    assert error.median_spread == 1.0
    assert "within a factor of 1.0" in str(error)
