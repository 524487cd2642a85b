"""Run times of waiting jobs, from jobs that ended."""

from __future__ import annotations

from dovetail.live.cycle.estimates import from_history
from dovetail.live.journal import EndedRun, RecordedRun
from tests.live.builders import NOW, waiting


def ended(seconds: float, user: str = "ada", ago: float = 1000.0, gpus: int = 1) -> EndedRun:
    start = NOW - ago - seconds
    run = RecordedRun(
        job=1, label="1", user=user, account="lab", partition="gpu", qos="", submit=start,
        eligible=start, start=start, limit=3600.0, gpus=gpus, gpu_type="", nodes=1, cpus=1.0,
        memory_gb=1.0, hosts=("p100-1",), host_gpus=(),
    )  # fmt: skip
    return EndedRun(run, start + seconds, "COMPLETED")


def test_the_median_of_a_user_s_own_jobs_is_believed() -> None:
    past = [ended(100), ended(200), ended(300), *(ended(9000, "bob") for _ in range(5))]
    estimate = from_history(past)
    assert estimate([waiting(1, limit=3600.0)]).tolist() == [200.0]


def test_nothing_is_predicted_beyond_the_limit() -> None:
    assert from_history([ended(5000)] * 3)([waiting(1, limit=600.0)]).tolist() == [600.0]


def test_without_a_past_limits_are_believed() -> None:
    assert from_history([])([waiting(1, limit=600.0)]).tolist() == [600.0]
