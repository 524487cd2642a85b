"""Traces that are drawn: seeded, legal, at the load asked for, and like the clusters named."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail.domain.errors import ConfigError, UnknownName
from dovetail.domain.jobs import Floats
from dovetail.domain.trace import Trace
from dovetail.traces.synthetic import WORKLOADS, ClusterWorkload, offered_load, synthesize
from dovetail.traces.synthetic.limits import ROUND, Limits
from dovetail.traces.synthetic.rhythm import DAY, HOUR, Rhythm, weekly
from dovetail.traces.synthetic.streams import Streams

CLUSTERS = ("philly", "helios", "pai")

every_workload = pytest.mark.parametrize("name", list(WORKLOADS))
every_cluster = pytest.mark.parametrize("name", CLUSTERS)


def draw(name: str, jobs: int = 20_000, seed: int = 0, load: float | None = None) -> Trace:
    return synthesize(WORKLOADS[name], jobs, seed, load)


def cluster(name: str) -> ClusterWorkload:
    workload = WORKLOADS[name]
    assert isinstance(workload, ClusterWorkload)
    return workload


def gaps(trace: Trace) -> Floats:
    return np.diff(trace.jobs.submit)


@every_workload
def test_the_same_seed_gives_the_same_trace_and_another_seed_another(name: str) -> None:
    assert draw(name, 500).digest() == draw(name, 500).digest()
    assert draw(name, 500).digest() != draw(name, 500, seed=1).digest()


@every_workload
@settings(max_examples=15, deadline=None, derandomize=True)
@given(jobs=st.integers(1, 400), seed=st.integers(0, 2**32), gpus=st.integers(1, 300))
def test_every_job_is_legal_on_any_cluster(name: str, jobs: int, seed: int, gpus: int) -> None:
    trace = synthesize(WORKLOADS[name], jobs, seed, cluster_gpus=gpus)
    table = trace.jobs
    assert len(trace) == jobs
    assert table.submit[0] == 0
    assert ((table.run >= 1) & (table.run < 60 * DAY)).all()
    assert ((table.gpus >= 1) & (table.gpus <= gpus)).all()
    assert np.array_equal(table.run, np.round(table.run))
    assert np.array_equal(table.submit, np.round(table.submit))
    assert not (table.run > table.limit).any()


@every_workload
@pytest.mark.parametrize("load", [0.3, 0.9, 2.0])
def test_the_offered_load_is_the_one_asked_for(name: str, load: float) -> None:
    trace = synthesize(WORKLOADS[name], 2_000, 3, load, cluster_gpus=256)
    assert offered_load(trace.jobs, 256) == pytest.approx(load, rel=0.01)


def test_a_load_without_a_cluster_is_that_on_the_workloads_own() -> None:
    trace = draw("philly", 2_000, load=0.8)
    assert offered_load(trace.jobs, 1760) == pytest.approx(0.8, rel=0.01)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"jobs": 0}, "jobs is 0"),
        ({"jobs": 10, "seed": -1}, "seed is -1"),
        ({"jobs": 10, "load": 0.0}, "load is 0"),
        ({"jobs": 1, "load": 0.5}, "2 jobs or more"),
        ({"jobs": 10, "cluster_gpus": 0}, "cluster_gpus is 0"),
        ({"jobs": 2, "load": 1.0, "cluster_gpus": 6_400_000}, "ask for more jobs"),
    ],
)
def test_impossible_demands_are_refused_in_words(
    arguments: dict[str, int | float], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        synthesize(WORKLOADS["philly"], **arguments)  # type: ignore[arg-type]


def test_an_unknown_workload_is_answered_with_the_nearest_name() -> None:
    with pytest.raises(UnknownName, match="did you mean 'philly'"):
        WORKLOADS["phily"]


def test_streams_depend_on_their_own_name_only() -> None:
    first = Streams(7)("run").random(4)
    Streams(7)("size").random(1_000)
    assert np.array_equal(first, Streams(7)("run").random(4))
    assert not np.array_equal(first, Streams(7)("size").random(4))


def test_changing_one_component_leaves_the_others_as_they_were() -> None:
    plain = synthesize(cluster("helios"), 1_000, 0).jobs
    other = synthesize(replace(cluster("helios"), limits=None), 1_000, 0).jobs
    assert np.isnan(other.limit).all()
    assert np.array_equal(plain.run, other.run)
    assert np.array_equal(plain.submit, other.submit)


@every_cluster
def test_seeds_differ_in_run_times_not_only_in_their_order(name: str) -> None:
    one, other = draw(name, 1_000).jobs, draw(name, 1_000, seed=1).jobs
    assert not np.array_equal(np.sort(one.run), np.sort(other.run))


@every_cluster
def test_limits_are_round_and_as_poor_as_real_ones(name: str) -> None:
    jobs = draw(name).jobs
    assert np.isin(jobs.limit, ROUND).all()
    assert 0.03 <= float(np.median(jobs.run / jobs.limit)) <= 0.4


def test_without_spread_and_defaults_a_habit_has_one_limit() -> None:
    run, habit = np.array([600.0, 600.0, 5_000.0]), np.array([0, 0, 1])
    limits = Limits(padding=2.0, spread=0.0, default_share=0.0)
    drawn = limits.draw(run, habit, np.random.default_rng(0))
    assert drawn.tolist() == [0.5 * HOUR, 0.5 * HOUR, 4 * HOUR]


@every_cluster
def test_earlier_jobs_of_a_user_tell_how_long_the_next_one_runs(name: str) -> None:
    jobs = draw(name).jobs
    log_run, user = np.log(jobs.run), jobs.user.codes
    order = np.argsort(user, kind="stable")
    same = np.diff(user[order]) == 0
    before, after = log_run[order][:-1][same], log_run[order][1:][same]
    assert np.corrcoef(before, after)[0, 1] > 0.25


@every_cluster
def test_a_few_users_submit_most_jobs(name: str) -> None:
    counts = np.sort(np.bincount(draw(name).jobs.user.codes))[::-1] / 20_000
    assert 0.05 < counts[0] < 0.2
    assert counts[:30].sum() > 0.4


def test_jobs_of_one_burst_are_near_identical() -> None:
    jobs = draw("philly").jobs
    close = np.diff(jobs.submit) < 2
    assert close.mean() > 0.1
    assert (np.diff(jobs.gpus) == 0)[close].mean() > 0.85
    log_run = np.log(jobs.run)
    assert np.corrcoef(log_run[:-1][close], log_run[1:][close])[0, 1] > 0.5


def test_venus_is_busy_in_the_afternoon_and_calm_at_night_and_on_sundays() -> None:
    submit = draw("helios").jobs.submit
    by_hour = np.bincount((submit // HOUR % 24).astype(np.int64), minlength=24)
    by_day = np.bincount((submit // DAY % 7).astype(np.int64), minlength=7)
    assert by_hour[14:19].sum() > 4 * by_hour[2:7].sum()
    assert by_day[5:].mean() < 0.85 * by_day[:5].mean()


@settings(max_examples=30, deadline=None, derandomize=True)
@given(st.floats(0, 1e8))
def test_clock_and_busy_seconds_are_inverse(seconds: float) -> None:
    rhythm = weekly(peak_hour=15, swing=0.7, weekend=0.5)
    there = rhythm.busy(seconds)
    assert float(rhythm.clock(np.array([there]))[0]) == pytest.approx(seconds, abs=1e-3)


def test_a_slot_twice_as_busy_takes_two_thirds_of_the_jobs() -> None:
    rhythm = Rhythm((1.0, 2.0), slot=30.0)
    assert rhythm.clock(np.array([0.0, 20.0, 40.0, 60.0])).tolist() == [0.0, 30.0, 45.0, 60.0]


def test_partitions_cpus_and_memory_follow_when_asked_for() -> None:
    workload = replace(
        cluster("pai"), partitions=(("a", 2), ("b", 1)), cpus_per_gpu=6.0, memory_per_gpu=30.0
    )
    jobs = synthesize(workload, 2_000, 0).jobs
    assert np.array_equal(jobs.cpus, 6.0 * jobs.gpus)
    assert np.array_equal(jobs.memory, 30.0 * jobs.gpus)
    homes = {user: set(jobs.partition.codes[jobs.user.codes == user]) for user in range(20)}
    assert all(len(home) <= 1 for home in homes.values())
    assert set(jobs.partition.codes.tolist()) == {0, 1}


def test_kinds_of_pai_depend_on_size() -> None:
    jobs = draw("pai").jobs
    kind = np.array(jobs.kind.names())
    assert (kind[jobs.gpus == 1] == "tensorflow").mean() > 0.5
    assert (kind[jobs.gpus > 1] == "worker").mean() > 0.6


def test_without_lulls_arrivals_are_far_more_even() -> None:
    calm = replace(cluster("philly"), arrivals=replace(cluster("philly").arrivals, lulls=0.0))
    even, bursty = gaps(synthesize(calm, 20_000, 0)), gaps(draw("philly"))
    assert even.std() / even.mean() < 0.6 * bursty.std() / bursty.mean()
