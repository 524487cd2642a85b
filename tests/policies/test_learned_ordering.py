"""The learned ordering: its features, its network and its gate."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail.compiled.tables import new_table
from dovetail.domain.errors import ConfigError
from dovetail.domain.policy import (
    AccountFacts,
    Backfill,
    ClusterFacts,
    DemandFacts,
    JobFacts,
    Ordering,
)
from dovetail.domain.schedule import Schedule
from dovetail.policies.features import (
    EVERY_FEATURE,
    FEATURES,
    describe_forecasts,
    describe_jobs,
)
from dovetail.policies.ordering import ORDERINGS
from dovetail.policies.ordering.learned import BLOCK, SHAPES, WEIGHTS, learned, untrained
from dovetail.policies.placement import PLACEMENTS
from dovetail.prediction.estimates import make_estimates
from dovetail.simulator import simulate
from dovetail.testing.scores import advice
from dovetail.traces.synthetic import WORKLOADS, synthesize
from tests.builders import cluster_of, estimates_of, job, trace_of

TRACE = synthesize(WORKLOADS["helios"], jobs=800, seed=5, load=1.1, cluster_gpus=64)


def run(ordering: Ordering, backfill: Backfill = Backfill.EASY) -> Schedule:
    return simulate(
        TRACE, cluster_of("8x8"), ordering, PLACEMENTS["best-fit"], backfill,
        make_estimates(TRACE, "noisy:1"),
    )  # fmt: skip


def tables(random: np.random.Generator, count: int) -> tuple[Any, Any, Any, Any]:
    """A plausible state: jobs that wait, parts of a cluster, accounts."""
    jobs, accounts = new_table(JobFacts, count), new_table(AccountFacts, 3)
    demands, cluster = new_table(DemandFacts, 4), new_table(ClusterFacts, 1)
    cluster["origin"], cluster["now"] = 100.0, 100.0 + random.exponential(1e6)
    cluster["total_gpus"] = 512
    cluster["fragmentation"] = random.random()
    cluster["held"], cluster["free_in"] = random.exponential(1e5, 2)
    demands["total_gpus"], demands["total_nodes"] = 256, 32
    demands["free_gpus"] = random.integers(0, 257, 4)
    demands["idle_nodes"] = random.integers(0, 33, 4)
    demands["queued_gpus"] = random.integers(1, 5000, 4)
    demands["fits"] = random.random(4) < 0.5
    demands["ways"] = random.integers(0, 9, 4)
    accounts["gpus"] = random.integers(0, 171, 3)
    jobs["submit"] = random.uniform(100.0, cluster["now"][0], count)
    jobs["estimate"] = np.maximum(1.0, random.lognormal(8, 3, count))
    jobs["gpus"] = random.integers(1, 257, count)
    jobs["size"] = jobs["gpus"]
    jobs["log_estimate"], jobs["log_gpus"] = np.log(jobs["estimate"]), np.log(jobs["gpus"])
    jobs["partition_factor"] = random.random(count)
    jobs["cpus_per_gpu"] = random.integers(0, 64, count)
    jobs["memory_per_gpu"] = random.integers(0, 1000, count)
    jobs["spread"], jobs["skew"] = random.exponential(1.0, (2, count))
    jobs["margin"] = random.normal(0.5, 1.0, count)
    jobs["account"], jobs["demand"] = random.integers(0, 3, count), random.integers(0, 4, count)
    return jobs, accounts, demands, cluster


@settings(max_examples=100, deadline=None, derandomize=True)
@given(seed=st.integers(0, 1 << 30))
def test_every_feature_stays_in_its_range(seed: int) -> None:
    jobs, accounts, demands, cluster = tables(np.random.default_rng(seed), 50)
    out = np.full((len(EVERY_FEATURE), 50), np.nan)
    describe_jobs(jobs, accounts, demands, cluster, np.arange(50), out)
    describe_forecasts(jobs, cluster, np.arange(50), out)
    assert np.all(np.isfinite(out))
    assert np.all(out <= 1.0)
    negative = [name for name, row in zip(EVERY_FEATURE, out, strict=True) if row.min() < 0]
    assert set(negative) <= {"future_availability", "margin"}
    assert out.min() >= -1.0


def test_the_network_is_what_numpy_says_it_is() -> None:
    jobs, accounts, demands, cluster = tables(np.random.default_rng(1), 2 * BLOCK + 7)
    weights = np.random.default_rng(2).normal(size=WEIGHTS)
    found, gate, _ = advice(learned(weights, "net"), jobs, accounts, cluster, demands)
    given = np.empty((len(FEATURES), len(jobs)))
    describe_jobs(jobs, accounts, demands, cluster, np.arange(len(jobs)), given)
    first = 0
    for rows, columns in SHAPES:
        matrix = weights[first : first + rows * columns].reshape(rows, columns)
        given = matrix[:-1].T @ given + matrix[-1][:, None]
        given = np.maximum(given, 0.0) if columns > 2 else given
        first += rows * columns
    expected = jobs["log_gpus"] + jobs["log_estimate"] + given[0]
    assert np.allclose(found, expected)
    assert np.allclose(gate, given[1])


def test_an_untrained_network_is_saf_with_easy_backfilling() -> None:
    found, expected = run(learned(untrained(0), "net")), run(ORDERINGS["saf"])
    assert np.array_equal(found.start, expected.start)
    assert np.array_equal(found.chunk_gpus, expected.chunk_gpus)


def test_a_shut_gate_backfills_nothing() -> None:
    found = run(learned(untrained(0, open_gate=False), "net"))
    assert not found.backfilled.any()
    assert np.array_equal(found.start, run(ORDERINGS["saf"], Backfill.NONE).start)


def test_a_job_behind_a_shut_gate_still_starts_when_it_is_first() -> None:
    rows = job(0, 100, 6), job(1, 50, 8), job(2, 10, 1)
    found = simulate(
        trace_of(*rows), cluster_of("1x8"), learned(untrained(0, open_gate=False), "net"),
        PLACEMENTS["best-fit"], Backfill.EASY, estimates_of(*rows),
    )  # fmt: skip
    # The small job comes first in the order of SAF; only passing the large one needs the gate.
    assert found.start.tolist() == [0.0, 100.0, 2.0]


def test_exempt_jobs_bypass_the_network() -> None:
    rows = job(0, 100, 8), job(1, 10, 1), job(2, 1000, 8, exempt=True), job(3, 900, 8, exempt=True)
    found = simulate(
        trace_of(*rows), cluster_of("1x8"), learned(untrained(0), "net"),
        PLACEMENTS["best-fit"], Backfill.EASY, estimates_of(*rows),
    )  # fmt: skip
    assert found.start.tolist() == [0.0, 2000.0, 100.0, 1100.0]


@pytest.mark.parametrize("weights", [np.zeros(3), np.full(WEIGHTS, np.nan)])
def test_weights_of_another_network_are_refused(weights: np.ndarray) -> None:
    with pytest.raises(ConfigError, match="finite weights"):
        learned(weights, "net")
