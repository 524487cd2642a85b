"""No schedule is below the bound: not an optimal one, not a policy's."""

from __future__ import annotations

import math
import time
from itertools import permutations
from random import Random

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from dovetail.domain.cluster import Cluster
from dovetail.domain.jobs import JobColumns
from dovetail.domain.metrics import summary
from dovetail.domain.policy import Backfill
from dovetail.domain.trace import Trace
from dovetail.evaluation.bounds.bound import Bounds, components, lower_bounds
from dovetail.evaluation.bounds.relaxations import share_out
from dovetail.evaluation.run import Run
from dovetail.policies.ordering import ORDERINGS
from dovetail.policies.placement import PLACEMENTS
from dovetail.policies.policy import Policy
from tests.builders import JobRow, cluster_of, job, trace_of
from tests.oracles.cases import Case, cases

quick = settings(
    deadline=None,
    derandomize=True,
    database=None,
    phases=(Phase.generate,),
    suppress_health_check=list(HealthCheck),
)


def bounds(cluster: str | Cluster, *rows: JobRow) -> Bounds:
    site = cluster_of(cluster) if isinstance(cluster, str) else cluster
    return lower_bounds(trace_of(*rows), site)


def test_the_pooled_machine_preempts_for_shorter_remaining_work() -> None:
    # At 1 the job of 2 s preempts the one of 8 s, of which 7 s are left then; it ends at 3.
    flow, delay = share_out(np.array([0.0, 1.0]), np.array([8.0, 2.0]), np.zeros(2), 1.0, 1.0)
    assert flow.tolist() == [10.0, 2.0]
    assert delay.tolist() == pytest.approx([(1 * 0.5 + 7 * 6.5) / 8, 1.0])


def test_prices_see_that_a_real_job_cannot_be_preempted() -> None:
    # The best is to keep the GPU free until 1: ends 3 and 11. With preemption: 3 and 10.
    found = bounds("1x1", job(0, 8), job(1, 2))
    assert found.jct_mean == pytest.approx((11 + 2) / 2, abs=0.05)
    assert found.wait_mean == pytest.approx(found.jct_mean - 5)


def test_prices_see_that_a_narrow_job_cannot_use_the_whole_cluster() -> None:
    # Four jobs of 1 GPU × 100 s, then one of 4 GPUs × 1 s: pooled, nobody would have to wait.
    rows = [job(0, 100), job(0, 100), job(0, 100), job(0, 100), *(job(i, 1, 4) for i in range(50))]
    rows.sort(key=lambda row: row.submit)
    assert bounds("1x4", *rows).wait_mean > 0.9 * 4 * 50 / len(rows)


def test_jobs_as_wide_as_the_cluster_are_bounded_by_their_best_order() -> None:
    found = bounds("1x8", job(0, 60, 8), job(0, 120, 8), job(0, 30, 8))
    assert found.wait_mean == pytest.approx((0 + 30 + 90) / 3)
    assert found.bsld_mean == pytest.approx((1 + 90 / 60 + 210 / 120) / 3)


def test_gangs_that_half_fill_the_cluster_are_bounded_by_mean_busy_times() -> None:
    # Served one after the other on 2 GPUs, each takes 5 s: mean moments 2.5, 7.5, 12.5, 17.5.
    found = bounds("1x2", *(job(0, 10) for _ in range(4)))
    assert found.jct_mean == pytest.approx(10 + 5)  # and so they do: two at 10, two at 20


def test_the_larger_of_two_relaxations_per_job_would_not_be_a_bound() -> None:
    rows = [job(0, 10), job(0, 10), job(0, 10), job(0, 11 / 7, 7)]
    optimum = 30 + 11 / 7  # all four start at once: 3 · 1 + 7 = 10 GPUs
    wrong = 10 + 10 + 10 + 41 / 10
    assert wrong > optimum
    assert bounds("1x10", *rows).jct_mean * 4 == pytest.approx(optimum)


def test_an_idle_cluster_has_the_trivial_bound() -> None:
    found = bounds("2x8", job(0, 100), job(5, 3), job(9, 0))
    assert (found.wait_mean, found.bsld_mean) == (0.0, 1.0)
    assert found.jct_mean == pytest.approx(103 / 3)


def test_pools_that_share_no_job_are_bounded_each_by_its_own_gpus() -> None:
    rows = [job(0, 10, 4, gpu_type="v100"), job(0, 10, 4, gpu_type="v100")]
    assert bounds("1x4:v100,9x4:p100", *rows).wait_mean == pytest.approx(5)


def test_a_job_that_may_use_both_pools_joins_them() -> None:
    rows = [job(0, 10, 4, gpu_type="v100"), job(0, 10, 4, gpu_type="v100"), job(0, 10, 4)]
    joined = bounds("1x4:v100,9x4:p100", *rows)
    assert joined.wait_mean < 5 * 2 / 3
    assert components([0b001, 0b100, 0b011]) == [0b100, 0b011]


def test_a_quiet_time_does_not_hide_a_crowded_one() -> None:
    crowd = [job(0, 10, 8), job(0, 10, 8)]
    later = [job(1000 + i, 500) for i in range(8)]
    assert bounds("1x8", *crowd, *later).wait_mean == pytest.approx(10 / 10)


def test_rejected_jobs_are_left_out() -> None:
    row = job(0, 10, 8)
    assert bounds("1x8", row, job(0, 10, 9), job(0, 10, 8, gpu_type="h100")) == bounds("1x8", row)
    assert math.isnan(bounds("1x8", job(0, 10, 9)).wait_mean)


def test_a_slow_gpu_may_lower_the_slowdown_but_not_below_the_bound() -> None:
    # Two jobs want the fast GPU: the second runs on the slow one at once, with slowdown 1.
    cluster = cluster_of("1x1:v100,1x1:k80", speed={"v100": 1.0, "k80": 0.1})
    found = bounds(cluster, job(0, 20), job(0, 20))
    assert found.bsld_mean == 1.0
    assert found.wait_mean == 0.0


@pytest.mark.parametrize("seed", range(150))
def test_no_schedule_of_a_tiny_instance_is_below_the_bound(seed: int) -> None:
    random = Random(seed)
    gpus = random.randint(1, 5)
    rows = sorted(
        (
            job(random.randint(0, 6), random.choice((0, 1, 2, 3, 5, 12)), random.randint(1, gpus))
            for _ in range(random.randint(2, 5))
        ),
        key=lambda row: row.submit,
    )
    found, count = bounds(f"1x{gpus}", *rows), len(rows)
    schedules = [starts(order, gpus) for order in permutations(rows)]
    waits = [sum(s - r.submit for r, s in schedule) for schedule in schedules]
    slowdowns = [
        sum(max(1.0, (s - r.submit + r.run) / max(r.run, 10)) for r, s in schedule)
        for schedule in schedules
    ]
    assert found.wait_mean <= min(waits) / count + 1e-9
    assert found.jct_mean <= (min(waits) + sum(row.run for row in rows)) / count + 1e-9
    assert found.bsld_mean <= min(slowdowns) / count + 1e-9


def starts(order: tuple[JobRow, ...], gpus: int) -> list[tuple[JobRow, int]]:
    """Each job in turn at the earliest whole second at which it fits beside those before it.

    Over all orders this gives every active schedule, an optimal one among them.
    """
    used = np.zeros(100, np.int64)
    placed = []
    for row in order:
        start = int(row.submit)
        while np.any(used[start : start + int(row.run)] + row.gpus > gpus):
            start += 1
        used[start : start + int(row.run)] += row.gpus
        placed.append((row, start))
    return placed


@settings(quick, max_examples=100)
@given(
    case=cases(),
    order=st.sampled_from(list(ORDERINGS)),
    backfill=st.sampled_from(list(Backfill)),
    placement=st.sampled_from(list(PLACEMENTS)),
)
def test_no_policy_beats_the_bound(
    case: Case, order: str, backfill: Backfill, placement: str
) -> None:
    policy = Policy(order, backfill.value, placement)
    got = summary(Run(case.trace, case.cluster, policy, case.estimates).replay())
    least = lower_bounds(case.trace, case.cluster)
    refuses = any(math.isfinite(limit.submitted) for limit in case.cluster.limits)
    if got["unfinished"] == got["jobs"] or refuses:
        assert math.isnan(least.wait_mean)
        return
    for metric in ("wait_mean", "jct_mean", "bsld_mean"):
        assert getattr(least, metric) <= got[metric] * (1 + 1e-9) + 1e-9, metric


def test_a_hundred_thousand_jobs_take_well_under_a_second() -> None:
    random = np.random.Generator(np.random.PCG64(0))
    columns = JobColumns(
        submit=np.sort(random.uniform(0, 1e7, 100_000)),
        run=random.lognormal(6, 2, 100_000),
        gpus=random.integers(1, 9, 100_000),
    )
    trace, cluster = Trace(columns.build()), Cluster.parse("80x8")
    lower_bounds(trace, cluster)  # compiles
    began = time.process_time()
    lower_bounds(trace, cluster)
    assert time.process_time() - began < 1.0
