"""What the scheduler is told: each kind of estimate, and what is said of a wrong one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dovetail.domain.cluster import Cluster
from dovetail.domain.errors import ConfigError, TraceError, UnknownName
from dovetail.domain.jobs import Floats, JobColumns
from dovetail.domain.trace import Trace
from dovetail.evaluation.run import Run
from dovetail.prediction.estimates import make_estimates
from dovetail.traces.synthetic import WORKLOADS, synthesize


def trace(run: list[float], limit: list[float] | None = None) -> Trace:
    count = len(run)
    columns = JobColumns(submit=list(range(count)), run=run, gpus=[1] * count, limit=limit)
    return Trace(columns.build())


def seconds(of: Trace, spec: str, seed: int = 0) -> Floats:
    return make_estimates(of, spec, seed).seconds


def test_exact_estimates_are_the_run_times_but_at_least_a_second() -> None:
    assert seconds(trace([0, 0.5, 60]), "exact").tolist() == [1, 1, 60]


def test_limits_are_what_the_users_asked_for() -> None:
    assert seconds(trace([5, 60], [0.5, 3600]), "limit").tolist() == [1, 3600]


def test_an_order_may_believe_limits_less_while_reservations_keep_them() -> None:
    told = make_estimates(trace([1, 2], [3600, 400]), "limit:power=0.5")
    assert told.name == "limit:power=0.5"
    assert told.seconds.tolist() == [60.0, 20.0]
    assert told.reserve.tolist() == [3600.0, 400.0]
    assert make_estimates(trace([1, 2], [3600, 400]), "limit:power=1").name == "limit"


@pytest.mark.parametrize("spec", ["limit:0.5", "limit:power=0", "limit:power=2", "limit:power=nan"])
def test_a_power_that_makes_no_sense_is_refused(spec: str) -> None:
    with pytest.raises(ConfigError, match="no power above 0 and at most 1"):
        make_estimates(trace([1], [60]), spec)


def test_saf_by_half_believed_limits_is_the_order_that_counts_sizes_twice() -> None:
    drawn = synthesize(WORKLOADS["helios"], jobs=400, seed=3, load=1.3, cluster_gpus=64)
    limit = 600.0 * np.ceil(drawn.jobs.run / 600)
    limited = replace(drawn, jobs=replace(drawn.jobs, limit=limit))
    cluster = Cluster.parse("8x8")
    ours = Run.of(limited, cluster, "saf", "limit:power=0.5").replay()
    theirs = Run.of(limited, cluster, "saf-2", "limit").replay()
    assert np.array_equal(ours.start, theirs.start)


def test_a_few_jobs_without_a_limit_get_the_longest_of_their_partition_and_are_counted() -> None:
    columns = JobColumns(
        submit=[0, 1, 2, 3, 4, 5],
        run=[1] * 6,
        gpus=[1] * 6,
        limit=[60, np.nan, 900, 30, np.nan, 40],
        partition=["a", "a", "b", "a", "c", "b"],
    )
    told = make_estimates(Trace(columns.build()), "limit")
    assert told.seconds.tolist() == [60, 60, 900, 30, 900, 40]  # c has none: the longest of all
    assert told.notes == ("2 jobs have no time limit: the longest limit of the partition is taken",)


def test_where_most_limits_are_unknown_another_kind_is_suggested() -> None:
    with pytest.raises(TraceError, match=r"2 of 3 jobs .* noisy:1 or predicted"):
        make_estimates(trace([1, 2, 3], [np.nan, 5, np.nan]), "limit")


def test_what_is_predicted_is_named_in_full() -> None:
    told = make_estimates(trace([5, 6]), "predicted")
    assert told.name == "predicted:mixture,order=log-mean,reserve=q80"
    told = make_estimates(trace([5, 6]), "predicted:history,reserve=q90,order=mean")
    assert told.name == "predicted:history,order=mean,reserve=q90"
    assert told.seconds == pytest.approx([3600, 3600])


def test_order_and_reservations_can_go_by_different_summaries() -> None:
    of = trace([10.0, 1000.0] * 900)
    told = make_estimates(of, "predicted:history,order=q20,reserve=q90")
    assert told.seconds[-1] == pytest.approx(10)
    assert told.reserve[-1] == pytest.approx(1000)
    assert told.spread[-1] == pytest.approx(np.log(10))


def test_gittins_prefers_a_gamble_that_may_end_soon_to_a_sure_long_run() -> None:
    of = trace([10.0, 1000.0] * 900)
    gamble = make_estimates(of, "predicted:history,order=gittins").seconds[-1]
    mean = make_estimates(of, "predicted:history,order=mean").seconds[-1]
    assert gamble < 40 < mean


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("predicted:boosed", "did you mean 'boosted'"),
        ("predicted:history,order=q99", "q5 to q95"),
        ("predicted:history,order=meen", "did you mean 'mean'"),
        ("predicted:history,reserve", "given twice"),
        ("predicted:history,size=q80", "order=WHAT"),
        ("predicted:order=q80,order=mean", "given twice"),
    ],
)
def test_a_misspelt_request_says_what_may_be_written(spec: str, words: str) -> None:
    with pytest.raises((ConfigError, UnknownName), match=words):
        make_estimates(trace([5]), spec)


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
    with pytest.raises(ConfigError, match=r"write exact, limit, limit:power=0\.5"):
        make_estimates(trace([5]), spec)


def test_a_negative_seed_is_refused() -> None:
    with pytest.raises(ConfigError, match="seed is -1"):
        make_estimates(trace([5]), "noisy:1", seed=-1)
