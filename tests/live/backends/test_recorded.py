"""The cluster in memory behaves as Slurm was seen to behave."""

from __future__ import annotations

import pytest

from dovetail.live.backends.base import Unreachable
from dovetail.live.backends.recorded import Fault, MemoryCluster, RecordedBackend
from dovetail.live.model.decision import Change, Knob, Value


def change(job: int, after: Value, knob: Knob = Knob.SITE_FACTOR) -> Change:
    return Change(job, str(job), knob, None, after, "test")


@pytest.fixture
def cluster() -> MemoryCluster:
    return MemoryCluster.of_nodes(1, gpus=4)


def test_jobs_start_by_priority_and_end_after_their_time(cluster: MemoryCluster) -> None:
    low = cluster.submit(gpus=4, run=60.0, priority=10)
    high = cluster.submit(gpus=4, run=60.0, priority=20)
    cluster.advance(1.0)
    assert (cluster.job(low).state, cluster.job(high).state) == ("PENDING", "RUNNING")
    cluster.advance(60.0)
    assert (cluster.job(low).state, cluster.job(high).state) == ("RUNNING", "COMPLETED")


def test_a_site_factor_adds_up_and_a_frozen_job_shows_none(cluster: MemoryCluster) -> None:
    backend, job = RecordedBackend(cluster), cluster.submit(priority=100)
    backend.apply([change(job, 50)])
    assert backend.factors()[job] == (150, 50, False, 0)
    backend.apply([change(job, 900, Knob.PRIORITY)])
    assert backend.factors()[job] == (900, 0, True, 0)
    backend.apply([change(job, None, Knob.PRIORITY)])
    assert backend.factors()[job] == (150, 50, False, 0)


def test_complaints_are_slurms(cluster: MemoryCluster) -> None:
    job = cluster.submit(run=1.0)
    cluster.advance(1.0)
    cluster.advance(2.0)
    held = cluster.submit(gpus=4)
    cluster.hold(held)
    backend = RecordedBackend(cluster)
    errors = [
        result.error
        for result in backend.apply(
            [change(job, 1), change(99, 1), change(held, 7, Knob.PRIORITY), change(held, 7)]
        )
    ]
    assert errors[0] == "Job has already finished"
    assert errors[1] == "Invalid job id specified"
    assert errors[2].startswith("Job is in held state")
    assert errors[3] == ""


@pytest.mark.parametrize(
    ("fault", "done"),
    [(Fault.LOST, 0), (Fault.UNANSWERED, 4), (Fault.HALF, 2), (Fault.LATE, 0)],
)
def test_a_message_without_an_answer_may_have_been_done(
    cluster: MemoryCluster, fault: Fault, done: int
) -> None:
    jobs = [cluster.submit(gpus=4) for _ in range(4)]
    backend = RecordedBackend(cluster, [fault])
    with pytest.raises(Unreachable):
        backend.apply([change(job, 5) for job in jobs])
    assert len(cluster.site) == done
    backend.deliver()
    assert len(cluster.site) == (4 if fault is Fault.LATE else done)


def test_a_requeued_job_keeps_its_factor(cluster: MemoryCluster) -> None:
    job = cluster.submit()
    cluster.set_site(job, 40)
    cluster.advance(1.0)
    assert job not in cluster.factors()
    cluster.requeue(job)
    assert cluster.factors()[job].site == 40
    assert cluster.job(job).restarts == 1
