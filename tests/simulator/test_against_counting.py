"""On nodes that are all alike and hold one GPU, or on one node, nodes do not matter.

There the simulator must start every job when a simulator does that only counts processors and
was written from the papers (`tests/oracles/counting.py`), and on the KTH trace its averages
must be those of other people's simulators (pyss, the simulator of Feitelson's group) and those
published: Gaussier, Glesser, Reis and Trystram, "Improving Backfilling by using Machine Learning to
Predict Running Times", SC '15, doi:10.1145/2807591.2807646, whose results for KTH stand in
`experiments/data/KTH-SP2/sim_analysis/metrics` of the repository `predictsim` of that paper.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from dovetail.domain.cluster import Cluster
from dovetail.domain.estimates import Estimates
from dovetail.domain.metrics import summary
from dovetail.domain.policy import Backfill, Varies
from dovetail.domain.trace import Trace
from dovetail.policies.ordering import ORDERINGS
from dovetail.prediction import HISTORY
from dovetail.traces.read import read_trace
from tests.builders import JobRow, cluster_of, estimates_of, trace_of
from tests.oracles import counting
from tests.oracles.answers import FromHistory
from tests.oracles.ordering import Moment, score
from tests.oracles.shapes import jobs_of
from tests.real_traces import real_trace
from tests.simulator.runs import compiled_schedule

STATIC = [name for name, ordering in ORDERINGS.items() if ordering.varies is Varies.NEVER]
WAYS = {
    Backfill.NONE: counting.start_in_order,
    Backfill.EASY: counting.easy,
    Backfill.CONSERVATIVE: counting.conservative,
}
GAPS = (0.0, 0.0, 0.0, 1.0, 1.0, 2.0, 0.5, 7.25)
RUNS = (0.0, 0.001, 0.3, 1.0, 3.0, 5.0, 10.0, 10.0, 20.0, 33.3, 60.0, 250.0)
WRONG = (1.0, 1.0, 0.05, 0.5, 0.9, 1.5, 2.0, 10.0)


class Order:
    """An ordering of the registry, by the formula that the tests have of it."""

    def __init__(self, name: str, trace: Trace, cluster: Cluster, seconds: list[float]) -> None:
        self.name, self.cluster, self.seconds = name, cluster, seconds
        self.jobs, self.history = jobs_of(trace), FromHistory(HISTORY, trace)

    def score(self, row: int) -> float:
        job = self.jobs[row]
        moment = Moment(job.submit, self.jobs[0].submit, self.cluster, {}, None)
        predicted = self.history.predict(row) if self.name == "qssf" else math.nan
        return score(self.name, job, max(1.0, self.seconds[row]), predicted, moment)

    def observe(self, row: int) -> None:
        self.history.observe(row, self.jobs[row].run)


def counted(
    trace: Trace, cluster: Cluster, ordering: str, backfill: Backfill, estimates: Estimates
) -> list[float]:
    """The start times by counting alone."""
    seconds = estimates.seconds.tolist()
    jobs = [
        counting.Job(job.row, job.submit, job.run, max(1.0, seconds[job.row]), job.gpus)
        for job in jobs_of(trace)
    ]
    order = Order(ordering, trace, cluster, seconds)
    return counting.simulate(jobs, cluster.total_gpus, WAYS[backfill], order)


@dataclass(frozen=True)
class Case:
    """Jobs, and how many GPUs there are for them."""

    gpus: int
    rows: tuple[JobRow, ...]

    def parting(self, cluster: str, ordering: str, backfill: Backfill) -> str | None:
        """The first job that the two start at different times."""
        trace, site, estimates = trace_of(*self.rows), cluster_of(cluster), estimates_of(*self.rows)
        expected = counted(trace, site, ordering, backfill, estimates)
        got = compiled_schedule(trace, site, ordering, "best-fit", backfill, estimates).start
        wrong = np.flatnonzero(~np.isclose(expected, got, rtol=0, atol=0, equal_nan=True))
        if not len(wrong):
            return None
        first = min(wrong, key=lambda row: min(expected[row], got[row]))
        return f"job {first} starts at {got[first]}, by counting at {expected[first]}"


def cases() -> st.SearchStrategy[Case]:
    return st.integers(0, 2**63 - 1).map(lambda seed: random_case(Random(seed)))


def random_case(random: Random) -> Case:
    """Many jobs for few GPUs, with ties in everything; half of the cases have wrong estimates."""
    gpus = random.choice((1, 2, 3, 4, 6, 8))
    wrong, now = random.random() < 0.5, 0.0
    rows = []
    for _ in range(random.randint(4, 25)):
        now += random.choice(GAPS)
        run = random.choice(RUNS)
        rows.append(
            JobRow(
                now,
                run,
                random.choice((*range(1, gpus + 1), 1, 1, gpus, gpus + 1)),
                estimate=run * random.choice(WRONG) if wrong else None,
                priority=random.choice((0.0, 1.0, -2.0)),
                deadline=now + random.choice((math.nan, 5.0, 20.0)),
                user=random.choice(("ann", "bob")),
            )
        )
    return Case(gpus, tuple(rows))


@pytest.mark.parametrize("backfill", list(WAYS), ids=lambda backfill: backfill.value)
@pytest.mark.parametrize("ordering", STATIC)
@settings(
    max_examples=150,
    deadline=None,
    derandomize=True,
    database=None,
    phases=(Phase.generate,),
    suppress_health_check=list(HealthCheck),
)
@given(case=cases())
def test_jobs_start_when_counting_says_so(ordering: str, backfill: Backfill, case: Case) -> None:
    for cluster in (f"{case.gpus}x1", f"1x{case.gpus}"):
        if case.parting(cluster, ordering, backfill) is not None:
            case = _reduced(case, cluster, ordering, backfill)
            pytest.fail(f"{cluster}: {case.parting(cluster, ordering, backfill)}\n{case}")


def _reduced(case: Case, cluster: str, ordering: str, backfill: Backfill) -> Case:
    """A case that still fails, without the jobs that it does not need."""
    for index in reversed(range(len(case.rows))):
        fewer = replace(case, rows=case.rows[:index] + case.rows[index + 1 :])
        if fewer.rows and fewer.parting(cluster, ordering, backfill) is not None:
            case = fewer
    return case


def kth() -> tuple[Trace, Estimates]:
    """The KTH SP2 of the Parallel Workloads Archive, run times cut at limits as others do."""
    trace = read_trace(real_trace("pwa_kth_sp2_1996"))
    jobs = trace.jobs
    cut = replace(trace, jobs=replace(jobs, run=np.minimum(jobs.run, jobs.limit)))
    return cut, Estimates("limit", jobs.limit)


@pytest.mark.parametrize("backfill", [Backfill.EASY, Backfill.CONSERVATIVE], ids=lambda b: b.value)
@pytest.mark.parametrize("ordering", STATIC)
def test_every_job_of_kth_starts_when_counting_says_so(ordering: str, backfill: Backfill) -> None:
    trace, estimates = kth()
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
