"""Every predictor: causal, ascending quantiles, within limits; trees and calibration by oracle."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail.domain.jobs import Floats, JobColumns, Jobs
from dovetail.prediction import PREDICTORS, predict
from dovetail.prediction.best_median import best_median
from dovetail.prediction.calibration import AT_FIRST, FIRST_STEPS, STEP, calibrate
from dovetail.prediction.distribution import LEVELS, Distribution
from dovetail.prediction.features import features_of
from dovetail.prediction.score import score
from dovetail.prediction.timeline import timeline_of
from dovetail.prediction.trees import OUTPUTS, Bins, Forest, Growth, grow


def workload(count: int = 900, seed: int = 0) -> Jobs:
    """Users with habits of their own: two kinds of jobs each, one of which often fails at once."""
    random = np.random.default_rng(seed)
    user, name = random.integers(0, 6, count), random.integers(0, 2, count)
    habit = np.exp(random.normal(6.0, 1.5, (6, 2)))[user, name]
    run = np.where(random.random(count) < 0.2 * name, 5.0, habit * random.lognormal(0, 0.3, count))
    submit = np.cumsum(random.exponential(60.0, count))
    return JobColumns(
        submit=submit,
        run=run,
        gpus=random.integers(1, 9, count),
        limit=np.full(count, 40_000.0),
        user=[f"u{code}" for code in user],
        name=[f"n{code}" for code in name],
        recorded_start=submit + random.exponential(100.0, count),
    ).build()


@pytest.mark.parametrize("name", list(PREDICTORS))
def test_what_has_not_ended_at_a_submission_changes_no_prediction(name: str) -> None:
    jobs, row = workload(), 600
    now = jobs.submit[row]
    later = np.flatnonzero(jobs.recorded_start + jobs.run > now)
    shuffled = np.random.default_rng(1).permutation(later)
    run = jobs.run.copy()
    # Whoever had begun must still end later than now.
    run[later] = np.maximum(run[shuffled], now - jobs.recorded_start[later] + 1.0)
    other = replace(jobs, run=run)
    before, after = predict(jobs, name), predict(other, name)
    assert np.array_equal(before.quantiles[: row + 1], after.quantiles[: row + 1])
    assert np.array_equal(before.mean[: row + 1], after.mean[: row + 1])
    assert not np.array_equal(before.quantiles[row + 1 :], after.quantiles[row + 1 :])


@pytest.mark.parametrize("name", list(PREDICTORS))
def test_later_jobs_change_no_prediction_whatever_they_ask_for(name: str) -> None:
    jobs, row = workload(), 500
    part = jobs.take(np.arange(row))
    rest = np.arange(row, len(jobs))[::-1]
    mixed = np.concatenate((np.arange(row), rest))
    other = replace(jobs, gpus=jobs.gpus[mixed], limit=jobs.limit[mixed], run=jobs.run[mixed])
    assert np.array_equal(predict(part, name).quantiles, predict(other, name).quantiles[:row])


@pytest.mark.parametrize("name", list(PREDICTORS))
def test_quantiles_ascend_and_nothing_goes_beyond_the_limit(name: str) -> None:
    jobs = replace(workload(), limit=np.full(900, 1000.0))
    jobs = replace(jobs, run=np.minimum(jobs.run, 1000.0))
    found = predict(jobs, name)
    assert np.all(np.diff(found.quantiles, axis=1) >= 0)
    assert found.quantiles.max() <= 1000.0 * (1 + 1e-9)
    assert found.quantiles.min() >= 1.0
    assert np.all(found.mean >= 1.0)
    assert np.all(found.mean <= 1000.0 * (1 + 1e-9))


@pytest.mark.parametrize("name", ["history", "boosted", "mixture"])
def test_what_knows_how_sure_it_is_beats_the_bare_median(name: str) -> None:
    jobs = workload(3000)
    rows = slice(1000, 3000)
    mine = score(predict(jobs, name).take(rows), jobs.run[rows])
    plain = score(predict(jobs, "median").take(rows), jobs.run[rows])
    assert mine.pinball < 0.9 * plain.pinball


def test_calibrated_intervals_hold_what_they_promise_even_if_the_raw_ones_do_not() -> None:
    random = np.random.default_rng(3)
    count = 6000
    jobs = JobColumns(
        submit=np.arange(count) * 100.0, run=random.lognormal(5.0, 1.0, count), gpus=[1] * count
    ).build()
    timeline = timeline_of(jobs)
    raw = np.tile(np.linspace(4.9, 5.0, len(LEVELS)), (count, 1))  # far too narrow, and too low
    told = calibrate(raw, np.log(jobs.run), np.full(count, np.inf), timeline)
    found = score(Distribution.of_quantiles(np.exp(told[2000:])), jobs.run[2000:])
    assert found.coverage == pytest.approx(0.8, abs=0.03)
    assert np.allclose(found.reached, LEVELS, atol=0.04)


def calibrated_plainly(raw: Floats, jobs: Jobs) -> Floats:
    """What `calibrate` does, second by second over all that is known, without a queue."""
    submit, logs = jobs.submit, np.log(np.maximum(jobs.run, 1.0))
    start = np.maximum(jobs.recorded_start, submit)
    end, shift, error = start + jobs.run, AT_FIRST.copy(), 1.0
    open_ones: list[tuple[float, int, int]] = []
    counted, ended, out = 0.0, 0.0, np.empty_like(raw)
    for job in range(len(raw)):
        while open_ones and min(open_ones)[0] <= submit[job]:
            now, other, k = min(open_ones)
            open_ones.remove((now, other, k))
            told = raw[other, k] + shift[k]
            passes = start[other] + np.exp(told)
            if now < end[other] and passes > now + 1.0:
                open_ones.append((min(passes, end[other]), other, k))
                continue
            counted += 1 / len(LEVELS)
            if k == 5 and now >= end[other]:
                ended += 1
                error += max(STEP, 1 / (1 + ended)) * (abs(logs[other] - told) - error)
            inside = now >= end[other] and logs[other] <= told
            shift[k] += error * max(STEP, 1 / (FIRST_STEPS + counted)) * (LEVELS[k] - inside)
        told_now = np.maximum(0.0, raw[job] + shift)
        open_ones += [
            (min(start[job] + np.exp(told_now[k]), end[job]), job, k) for k in range(len(LEVELS))
        ]
        out[job] = np.sort(told_now)
    return out


def test_calibration_counts_a_job_as_soon_as_it_is_known_as_plainly_written() -> None:
    jobs = workload(200)
    raw = np.sort(np.random.default_rng(2).normal(6.0, 1.0, (200, len(LEVELS))), axis=1)
    told = calibrate(raw, np.log(jobs.run), np.full(200, np.inf), timeline_of(jobs))
    assert np.allclose(told, calibrated_plainly(raw, jobs), rtol=0, atol=1e-9)


def test_levels_rise_while_the_jobs_that_outlived_them_still_run() -> None:
    count = 300
    jobs = JobColumns(
        submit=np.arange(count) * 10.0, run=np.full(count, 1e6), gpus=[1] * count
    ).build()
    raw = np.full((count, len(LEVELS)), np.log(60.0))
    told = calibrate(raw, np.log(jobs.run), np.full(count, np.inf), timeline_of(jobs))
    assert told[-1, -2] > told[0, -2] + 0.5  # none has ended, all have run for over a minute


def test_the_median_comes_from_whoever_is_right_on_alike_jobs() -> None:
    count = 400
    jobs = JobColumns(submit=np.arange(count) * 100.0, run=[50.0] * count, gpus=[1] * count).build()
    groups = np.column_stack((np.arange(count) % 2, np.full(count, 2)))
    logs = np.log(jobs.run)
    # The first is right on even jobs, the second on odd ones, the third nearly everywhere.
    odd = (np.arange(count) % 2).astype(np.float64)
    medians = np.column_stack((logs + odd, logs + 1 - odd, logs + 0.5))
    found = best_median(medians, np.ones(3), logs, groups, timeline_of(jobs))
    assert np.allclose(found[20:], logs[20:])
    wary = best_median(medians[:, 1:], np.array([3.0, 1.0]), logs, groups, timeline_of(jobs))
    assert np.allclose(wary[21::2], logs[21::2] + 0.5)


def walk(forest: Forest, row: Floats) -> Floats:
    """The plain way through the trees."""
    out = forest.base.copy()
    for column, cut, leaf in zip(forest.column, forest.cut, forest.leaf, strict=True):
        node = 0
        while node < len(column):
            node = 2 * node + 2 if row[column[node]] > cut[node] else 2 * node + 1
        out += leaf[node - len(column)]
    return out


@settings(max_examples=20, deadline=None, derandomize=True)
@given(seed=st.integers(0, 1000))
def test_trees_are_walked_as_plainly_written(seed: int) -> None:
    random = np.random.default_rng(seed)
    table = random.normal(size=(300, 4)).astype(np.float32)
    table[random.random(table.shape) < 0.1] = np.nan
    logs = np.where(np.nan_to_num(table[:, 0]) > 0.2, 2.0, 6.0) + random.normal(0, 0.1, 300)
    forest = grow(Bins.of(table), table, logs, Growth(rounds=8, depth=3, least_rows=5))
    told = forest.predict(table)
    assert told.shape == (300, OUTPUTS)
    assert np.allclose(told, [walk(forest, row) for row in table])


def test_trees_find_what_tells_jobs_apart() -> None:
    random = np.random.default_rng(5)
    table = random.normal(size=(4000, 6)).astype(np.float32)
    logs = np.where(table[:, 3] > 0, 3.0, 8.0) + random.normal(0, 0.5, 4000)
    forest = grow(Bins.of(table), table, logs, Growth(rounds=120, depth=3))
    told = forest.predict(table)
    low = told[table[:, 3] > 0.1]
    assert low[:, len(LEVELS)].mean() == pytest.approx(3.0, abs=0.1)  # log-mean
    assert low[:, 9].mean() == pytest.approx(3.0 + 1.2816 * 0.5, abs=0.15)  # 90 %
    assert low[:, -1].mean() == pytest.approx(3.0 + 0.125, abs=0.15)  # mean of a lognormal


def test_a_trace_that_knows_less_has_fewer_features() -> None:
    jobs = workload(50)
    bare = JobColumns(submit=jobs.submit, run=jobs.run, gpus=jobs.gpus).build()
    rich, poor = features_of(jobs, timeline_of(jobs)), features_of(bare, timeline_of(bare))
    assert len(poor.names) == poor.table.shape[1] < len(rich.names)
    assert any("name" in told for told in rich.names)


def test_remaining_time_grows_as_a_job_outlives_what_was_likely() -> None:
    forecast = Distribution.of_quantiles(
        np.array([[1.0, 2, 5, 10, 20, 40, 80, 160, 3600, 7200, 9000]])
    )
    fresh = forecast.remaining(np.array([0.0]))
    survivor = forecast.remaining(np.array([300.0]))
    beyond = forecast.remaining(np.array([20_000.0]))
    assert np.allclose(fresh.quantiles[0, 1:], forecast.quantiles[0, 1:], rtol=0.01)
    assert survivor.quantile(0.5)[0] > 10 * forecast.quantile(0.5)[0]
    assert beyond.quantile(0.5)[0] == pytest.approx(20_000.0)
