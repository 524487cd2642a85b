"""What `describe` says of a trace, by hand."""

from __future__ import annotations

import json
import math

import pytest

from dovetail.domain.jobs import JobColumns
from dovetail.domain.trace import Trace
from dovetail.traces.description import describe


def trace(**columns: object) -> Trace:
    plain: dict[str, object] = {
        "submit": [0, 100, 200, 3600],
        "run": [3600, 3600, 3600, 3600],
        "gpus": [1, 1, 2, 16],
    }
    return Trace(JobColumns(**(plain | columns)).build(), notes=("said",))  # type: ignore[arg-type]


def test_shares_of_jobs_and_of_gpu_time_per_size() -> None:
    assert describe(trace())["sizes"] == [
        {"gpus": "1", "jobs": 0.5, "gpu_time": 0.1},
        {"gpus": "2", "jobs": 0.25, "gpu_time": 0.1},
        {"gpus": "9-16", "jobs": 0.25, "gpu_time": 0.8},
    ]


def test_load_is_gpu_hours_offered_per_hour() -> None:
    facts = describe(trace())
    assert facts["gpu_hours"] == 20
    assert facts["offered_gpu_hours_per_hour"] == 20


def test_arrivals_at_equal_distances_do_not_vary() -> None:
    assert describe(trace(submit=[0, 5, 10, 15]))["interarrival_cv"] == 0


def test_limits_are_judged_by_the_jobs_that_have_one() -> None:
    facts = describe(trace(limit=[math.nan, 7200, 14400, 36000]))
    assert facts["limits"] == {"known": 0.75, "median_run_over_limit": 0.25}


def test_waits_users_and_partitions_are_counted_where_known() -> None:
    facts = describe(
        trace(
            recorded_start=[0, 110, math.nan, 3620],
            user=["a", "b", "a", None],
            partition=["x", "y", "y", None],
        )
    )
    assert facts["recorded_wait_seconds"]["mean"] == 10
    assert facts["users"] == 2
    assert facts["partitions"] == {"y": 0.5, "x": 0.25}


@pytest.mark.parametrize("jobs", [1, 4])
def test_everything_said_can_be_written_as_json(jobs: int) -> None:
    facts = describe(trace().slice(0, jobs))
    assert json.loads(json.dumps(facts, allow_nan=False))["notes"] == ["said"]
