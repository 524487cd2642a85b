"""Measures of a schedule, worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from dovetail.domain.measures import MEASURES
from dovetail.domain.metrics import bounded_slowdown, fairness, jain_index, summary
from dovetail.domain.policy import Backfill
from dovetail.domain.schedule import Schedule
from dovetail.policies.ordering import ORDERINGS
from dovetail.policies.placement import PLACEMENTS
from dovetail.simulator import simulate
from tests.builders import JobRow, cluster_of, estimates_of, job, trace_of


def run(*rows: JobRow, cluster: str = "1x8") -> Schedule:
    return simulate(
        trace_of(*rows), cluster_of(cluster), ORDERINGS["fcfs"], PLACEMENTS["best-fit"],
        Backfill.EASY, estimates_of(*rows),
    )  # fmt: skip


def test_bounded_slowdown_counts_short_jobs_as_ten_seconds() -> None:
    wait, run = np.array([0.0, 90.0, 9.0, 0.0]), np.array([100.0, 10.0, 1.0, 0.0])
    assert bounded_slowdown(wait, run).tolist() == [1.0, 10.0, 1.0, 1.0]


def test_jain_is_one_for_equals_and_one_nth_for_a_monopoly() -> None:
    assert jain_index(np.array([3.0, 3.0, 3.0])) == pytest.approx(1.0)
    assert jain_index(np.array([1.0, 0.0, 0.0, 0.0])) == pytest.approx(0.25)


def test_fairness_compares_users_not_jobs() -> None:
    slowdown = np.array([1.0, 3.0, 2.0])
    assert fairness(slowdown, np.array([0, 0, 1])) == pytest.approx(1.0)


def test_two_jobs_one_after_the_other() -> None:
    found = summary(run(job(0, 100, 8), job(0, 100, 8)))
    assert found["wait_mean"] == 50.0
    assert found["jct_mean"] == 150.0
    assert found["bsld_mean"] == 1.5
    assert found["makespan"] == 200.0
    assert found["gpu_utilization"] == pytest.approx(1.0)
    assert found["throughput_jobs_per_hour"] == pytest.approx(36.0)
    assert found["fragmentation_mean"] == 0.0


def test_fragmentation_is_the_share_of_free_gpus_on_partly_used_nodes() -> None:
    # Six GPUs are stranded beside the job, eight are on an idle node.
    found = summary(run(job(0, 100, 2), cluster="2x8"))
    assert found["fragmentation_mean"] == pytest.approx(6 / 14)


def test_rejected_jobs_count_as_unfinished_and_nowhere_else() -> None:
    schedule = run(job(0, 100, 8), job(0, 100, 9), cluster="1x8")
    found = summary(schedule)
    assert (found["jobs"], found["unfinished"]) == (2, 1)
    assert found["wait_mean"] == 0.0
    assert list(schedule.rejections().values()) == [1]


def test_a_trace_of_which_every_job_is_rejected_still_has_a_summary() -> None:
    found = summary(run(job(0, 100, 9)))
    assert found["unfinished"] == 1
    assert np.isnan(found["wait_mean"])


def test_where_a_job_ran_is_told_by_names_and_numbers() -> None:
    schedule = run(job(0, 100, 2), job(0, 100, 9), cluster="2x8:v100")
    assert schedule.where(0) == [("v100-0", [0, 1])]
    assert schedule.where(1) == [("v100-1", list(range(8))), ("v100-0", [2])]


def test_every_figure_of_the_summary_is_described() -> None:
    assert set(summary(run(job(0, 100, 8)))) - {"config"} == set(MEASURES)
