"""The index policy: its formula, what it starts as, and whom it leaves alone."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from dovetail.domain.errors import ConfigError
from dovetail.domain.policy import Backfill, Ordering
from dovetail.domain.schedule import Schedule
from dovetail.policies.learned.families import FAMILIES
from dovetail.policies.ordering import ORDERINGS
from dovetail.policies.ordering.index import IndexWeights, index
from dovetail.policies.placement import PLACEMENTS
from dovetail.prediction.estimates import make_estimates
from dovetail.simulator import simulate
from dovetail.testing.scores import advice
from dovetail.traces.synthetic import WORKLOADS, synthesize
from tests.builders import cluster_of, estimates_of, job, trace_of
from tests.policies.test_learned_ordering import tables

TRACE = synthesize(WORKLOADS["helios"], jobs=800, seed=5, load=1.1, cluster_gpus=64)
ODD = IndexWeights(
    gpus=1.3, nodes=0.2, whole=-0.4, wait=0.3, slowdown=0.2, fits=0.7, opens=0.6, gate=0.5,
    gate_estimate=-0.3, gate_gpus=0.1, keep=5.0, keep_idle=7.0, keep_from=-1.0, keep_span=1.5,
    patience=2.0, spread=0.4, skew=-0.8, margin=0.9,
)  # fmt: skip


def run(ordering: Ordering, backfill: Backfill = Backfill.EASY) -> Schedule:
    return simulate(
        TRACE, cluster_of("8x8"), ordering, PLACEMENTS["best-fit"], backfill,
        make_estimates(TRACE, "noisy:1"),
    )  # fmt: skip


def test_the_index_is_the_documented_formula() -> None:
    jobs, accounts, demands, cluster = tables(np.random.default_rng(3), 200)
    demands["opens"] = [True, False, True, False]
    found = advice(index(ODD), jobs, accounts, cluster, demands)
    for i, one in enumerate(jobs):
        part, wait = demands[one["demand"]], cluster["now"][0] - one["submit"]
        gpus, estimate = float(one["gpus"]), float(one["estimate"])
        hours, nodes = math.log(estimate / 3600), gpus / 8  # of 8 GPUs each
        expected = math.log(estimate) + 1.3 * math.log(gpus)
        expected += (0.2 * math.log(nodes) - 0.4) if nodes >= 1 else 0.0
        expected -= 0.3 * math.log(1 + wait / 3600) + 0.2 * math.log(1 + wait / estimate)
        expected += 0.6 * part["opens"] - 0.7 * part["fits"]
        expected += 0.4 * one["spread"] - 0.8 * one["skew"] + 0.9 * one["margin"]
        assert found.score[i] == pytest.approx(expected)
        assert found.gate[i] == pytest.approx(0.5 - 0.3 * hours + 0.1 * math.log(gpus))
        share = min(1.0, max(0.0, (hours + 1.0) / 1.5)) if wait < 2 * estimate else 0.0
        assert found.keep[i] == pytest.approx((5 + 7 * part["opens"]) / 100 * share * 256)


def test_without_learning_it_is_saf_with_easy_backfilling() -> None:
    assert np.array_equal(run(index(IndexWeights())).start, run(ORDERINGS["saf"]).start)


def test_a_shut_gate_is_saf_without_backfilling() -> None:
    shut = run(index(IndexWeights(gate=-1.0)))
    assert np.array_equal(shut.start, run(ORDERINGS["saf"], Backfill.NONE).start)


def test_long_jobs_leave_the_share_of_the_gpus_free_that_they_are_told_to() -> None:
    found = run(index(IndexWeights(keep=25.0, patience=1e9)))
    jobs = TRACE.jobs
    for i in np.flatnonzero(found.estimate > 3600 * math.exp(2)):
        # Short jobs that start at the same moment may come after it.
        before = (found.start < found.start[i]) & (found.end > found.start[i])
        used = jobs.gpus[before].sum()
        assert used == 0 or used + jobs.gpus[i] <= 48


def test_a_share_that_never_is_free_does_not_keep_jobs_from_running() -> None:
    found = run(index(IndexWeights(keep=100.0, keep_from=-50.0, patience=1e12)))
    assert found.ran.all()


def test_exempt_jobs_go_first_and_leave_nothing_free() -> None:
    rows = (
        job(0, 10, 4), job(1, 90_000, 2, exempt=True), job(2, 90_000, 2),
    )  # fmt: skip
    kept = index(IndexWeights(keep=50.0, patience=1e9))
    found = simulate(
        trace_of(*rows), cluster_of("1x8"), kept, PLACEMENTS["best-fit"], Backfill.EASY,
        estimates_of(*rows),
    )  # fmt: skip
    assert found.start.tolist() == [0.0, 1.0, 10.0]


@pytest.mark.parametrize(("name", "value"), [("wait", math.nan), ("keep_span", 0.0)])
def test_weights_that_cannot_be_are_refused(name: str, value: float) -> None:
    with pytest.raises(ConfigError, match=name):
        replace(ODD, **{name: value})


def test_with_its_skew_an_order_by_the_log_mean_is_one_by_the_mean() -> None:
    asked = "predicted:history,order={},reserve=q80"
    by_log_mean, by_mean = (make_estimates(TRACE, asked.format(x)) for x in ("log-mean", "mean"))
    policy = PLACEMENTS["best-fit"], Backfill.EASY
    found = simulate(TRACE, cluster_of("8x8"), index(IndexWeights(skew=1.0)), *policy, by_log_mean)
    expected = simulate(TRACE, cluster_of("8x8"), ORDERINGS["saf"], *policy, by_mean)
    plain = simulate(TRACE, cluster_of("8x8"), ORDERINGS["saf"], *policy, by_log_mean)
    assert np.array_equal(found.start, expected.start)
    assert not np.array_equal(plain.start, expected.start)


def test_vectors_of_before_mean_what_they_meant_and_longer_ones_end_with_forecasts() -> None:
    old, new = FAMILIES["index"], FAMILIES["forecast-index"]
    assert old.start.shape == (17,)
    assert new.start.shape == (20,)
    before = old.policy(old.start, "old")
    after = new.policy(np.concatenate((old.start, np.zeros(3))), "new")
    assert before.ordering.parameters == after.ordering.parameters
    assert np.array_equal(before.placement.weights, after.placement.weights)
    told = new.policy(np.concatenate((old.start, [0.1, 0.2, 0.3])), "told").ordering.parameters
    assert [told[name] for name in ("spread", "skew", "margin")] == [0.1, 0.2, 0.3]
    with pytest.raises(ConfigError, match="expected 17 finite weights"):
        old.policy(new.start, "odd")
