"""What was recorded stands first, and how far the replay of Slurm as configured is from it."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from dovetail.domain.cluster import Cluster
from dovetail.domain.policy import Backfill, SlurmBackfill
from dovetail.domain.trace import Trace
from dovetail.evaluation.comparison import Comparison, compare
from dovetail.evaluation.recorded import gap_of
from dovetail.evaluation.report.report import report_html
from dovetail.evaluation.report.table import caption, grid
from dovetail.policies.configured import configured_policy
from dovetail.policies.ordering.as_configured import AS_CONFIGURED
from dovetail.policies.policy import PolicyLike
from tests.builders import cluster_of, job, trace_of

SETTINGS = {
    "SchedulerParameters": "defer,bf_interval=60,bf_max_job_user=7",
    "PriorityType": "priority/multifactor",
    "PriorityWeightAge": "1000",
    "PriorityWeightFairshare": "100000",
    "PriorityMaxAge": "14-0",
    "PriorityDecayHalfLife": "0",
}


def site(**settings: str) -> Cluster:
    return replace(cluster_of("1x4"), slurm=settings)


def history(*starts: float) -> Trace:
    """Three jobs that need the whole node one after the other."""
    trace = trace_of(*(job(n, run=100, gpus=4, limit=200) for n in range(3)))
    return replace(trace, jobs=replace(trace.jobs, recorded_start=np.array(starts)))


def compared(trace: Trace, cluster: Cluster) -> Comparison:
    configured = configured_policy(cluster)
    policies: list[PolicyLike] = ["fcfs", *([configured] if configured else [])]
    return compare(trace, cluster, policies, workers=1)


def test_what_was_recorded_is_the_first_row_and_takes_no_part() -> None:
    found = compared(history(0, 130, 260), site(PriorityType="priority/basic"))
    (label, cells), *others = grid(found)
    assert label == "recorded"
    assert cells[0].text == "2.1 min"  # (0 + 129 + 258) / 3
    assert [name for name, _ in others][:2] == ["fcfs+easy", AS_CONFIGURED]
    assert not any(cell.best for cell in cells)


def test_the_gap_is_between_what_was_recorded_and_slurm_as_configured() -> None:
    found = compared(history(0, 130, 260), site(PriorityType="priority/basic"))
    assert found.recorded is not None
    gap = found.recorded.gap
    assert gap is not None
    assert (gap.jobs, gap.recorded_wait, gap.replayed_wait) == (3, 129.0, 99.0)  # 0, 100, 200
    assert (gap.error_p50, gap.near) == (30.0, 1.0)
    assert gap.sentence in caption(found)
    assert "(-23%)" in gap.sentence
    assert "recorded" in report_html(found)
    assert json.loads(found.to_json())["recorded"]["gap"]["jobs"] == 3


def test_without_recorded_starts_or_settings_nothing_is_said() -> None:
    assert compared(history(*[np.nan] * 3), site(PriorityType="priority/basic")).recorded is None
    found = compared(history(0, 130, 260), site())
    assert found.recorded is not None
    assert found.recorded.gap is None


def test_jobs_without_a_recorded_start_are_left_out_of_the_gap() -> None:
    gap = gap_of("x", np.array([0.0, np.nan, 10.0]), np.array([5.0, 1.0, np.nan]))
    assert gap is not None
    assert (gap.jobs, gap.error_p50) == (1, 5.0)
    assert gap_of("x", np.array([np.nan]), np.array([1.0])) is None


def test_the_settings_of_slurm_conf_become_a_policy() -> None:
    policy = configured_policy(site(**SETTINGS))
    assert policy is not None
    order, _, rule = policy.parts()
    assert rule == SlurmBackfill(interval=60, max_job_user=7)
    assert order.parameters["age"] == 1000.0
    assert order.parameters["fair_share"] == 100_000.0
    assert order.parameters["max_age"] == 14 * 86_400
    assert order.half_life > 1e9  # nothing decays


@pytest.mark.parametrize(
    ("settings", "order", "rule"),
    [
        ({"PriorityType": "priority/basic"}, "fcfs", SlurmBackfill()),
        ({"SchedulerType": "sched/builtin"}, "slurm-multifactor", Backfill.NONE),
        ({"PriorityFavorSmall": "YES", "PriorityWeightJobSize": "10"}, "", SlurmBackfill()),
    ],
)
def test_other_settings_choose_other_parts(
    settings: dict[str, str], order: str, rule: object
) -> None:
    policy = configured_policy(site(**settings))
    assert policy is not None
    ordering, _, fill = policy.parts()
    assert fill == rule
    if order == "fcfs":
        assert not ordering.parameters.get("age")
    if not order:  # points stand in the jobs' facts
        assert ordering.parameters["age"] == 0.0
