"""KTH: every job starts when counting says so, and averages are those of others.

Others are pyss, the simulator of Feitelson's group, and what is published: Gaussier, Glesser, Reis
and Trystram, "Improving Backfilling by using Machine Learning to Predict Running Times", SC '15,
doi:10.1145/2807591.2807646, whose results for KTH stand in
`experiments/data/KTH-SP2/sim_analysis/metrics` of that paper's repository `predictsim`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from dovetail.domain.estimates import Estimates
from dovetail.domain.metrics import summary
from dovetail.domain.policy import Backfill
from dovetail.domain.trace import Trace
from dovetail.traces.reader import read_trace
from tests.builders import cluster_of
from tests.real_traces import real_trace
from tests.simulator.counted import STATIC, counted
from tests.simulator.runs import compiled_schedule

ORDERS = [name for name in STATIC if name not in ("edf", "priority")]
"""KTH has neither deadlines nor priorities: both would be the order of arrival again."""


@cache
def kth() -> tuple[Trace, Estimates]:
    """The KTH SP2 of the Parallel Workloads Archive, run times cut at limits as others do."""
    trace = read_trace(real_trace("pwa_kth_sp2_1996"))
    jobs = trace.jobs
    cut = replace(trace, jobs=replace(jobs, run=np.minimum(jobs.run, jobs.limit)))
    return cut, Estimates("limit", jobs.limit)


CASES = [
    ("fcfs", Backfill.EASY, None),
    ("saf", Backfill.EASY, None),
    ("fcfs", Backfill.CONSERVATIVE, None),
    *((ordering, Backfill.EASY, 3000) for ordering in ORDERS),
    *((ordering, Backfill.CONSERVATIVE, 3000) for ordering in ORDERS),
]
"""Counting takes seconds for all 28,475 jobs: in the orders that others have published."""


@pytest.mark.parametrize(("ordering", "backfill", "jobs"), CASES, ids=str)
def test_every_job_of_kth_starts_when_counting_says_so(
    ordering: str, backfill: Backfill, jobs: int | None
) -> None:
    trace, estimates = kth()
    if jobs is not None:
        trace, estimates = trace.slice(0, jobs), estimates.take(slice(jobs))
    cluster = cluster_of("100x1")
    schedule = compiled_schedule(trace, cluster, ordering, "best-fit", backfill, estimates)
    expected = counted(trace, cluster, ordering, backfill, estimates)
    assert np.flatnonzero(schedule.start != expected).tolist() == []


def test_easy_on_kth_gives_the_averages_of_other_simulators() -> None:
    measured = kth_in_order_of_arrival(Backfill.EASY)
    assert measured["wait_mean"] / 60 == pytest.approx(114.0, rel=0.002)
    assert measured["bsld_mean"] == pytest.approx(92.8, rel=0.002)


def test_easy_on_kth_gives_the_published_averages() -> None:
    """There 28,481 jobs of an earlier edition of the log, here the 28,475 of the cleaned one."""
    measured = kth_in_order_of_arrival(Backfill.EASY)
    assert measured["jct_mean"] == pytest.approx(15_696.8, rel=0.001)
    assert measured["bsld_mean"] == pytest.approx(92.58, rel=0.004)


def test_conservative_on_kth_gives_the_average_of_another_simulator() -> None:
    """pyss moves promises once per job that ends, we do it once per time: 0.1 % apart."""
    measured = kth_in_order_of_arrival(Backfill.CONSERVATIVE)
    assert measured["wait_mean"] / 60 == pytest.approx(121.9, rel=0.002)


def kth_in_order_of_arrival(backfill: Backfill) -> dict[str, Any]:
    trace, estimates = kth()
    cluster = cluster_of("100x1")
    return summary(compiled_schedule(trace, cluster, "fcfs", "best-fit", backfill, estimates))
