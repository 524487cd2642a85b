"""Jobs are sent to a feature, let go again, and put back whatever becomes of a message."""

from __future__ import annotations

from pathlib import Path

import pytest

from dovetail.live.backends.recorded import Fault, MemoryCluster, RecordedBackend
from dovetail.live.config import ActConfig
from dovetail.live.model.decision import Knob
from dovetail.live.model.mode import Mode
from dovetail.live.model.snapshot import LiveNode
from tests.live.memory import steering_in_memory

ACT = ActConfig(hints=True, hint_by="features")


def mixed() -> MemoryCluster:
    """Two types of GPU; sjf puts a job of one GPU on the smaller node."""
    return MemoryCluster(
        [
            LiveNode(f"{kind}-1", "IDLE", gpus=gpus, gpu_type=kind, cpus=64.0, memory_gb=512.0,
                     partitions=("gpu",), features=frozenset({kind, "ib"}))
            for kind, gpus in (("p100", 4), ("m40", 2))
        ]
    )  # fmt: skip


def test_a_job_is_sent_to_a_feature_and_starts_there(tmp_path: Path) -> None:
    cluster = mixed()
    job = cluster.submit(gpus=1)
    with steering_in_memory(RecordedBackend(cluster), tmp_path, act=ACT) as controller:
        controller.cycle()
        (sent,) = [a for a in controller.journal.past.actions(job) if a.knob is Knob.FEATURES]
        assert (sent.before, sent.after, sent.reason) == ("", "m40", "it fits on m40 now")
        assert cluster.job(job).features == "m40"
        cluster.advance(60.0)
        assert cluster.job(job).hosts == ("m40-1",)


def test_a_job_that_did_not_start_is_let_go(tmp_path: Path) -> None:
    cluster = mixed()
    job = cluster.submit(gpus=1)
    with steering_in_memory(RecordedBackend(cluster), tmp_path, act=ACT) as controller:
        controller.cycle()
        assert cluster.job(job).features == "m40"
        controller.cycle()
        assert cluster.job(job).features == ""


def test_a_job_that_comes_back_is_let_go(tmp_path: Path) -> None:
    cluster = mixed()
    job = cluster.submit(gpus=1)
    with steering_in_memory(RecordedBackend(cluster), tmp_path, act=ACT) as controller:
        controller.cycle()
        cluster.advance(60.0)
        controller.cycle()
        cluster.requeue(job)
        assert cluster.job(job).features == "m40"
        controller.cycle()
        assert cluster.job(job).features == ""


def test_without_leave_nobody_is_sent_anywhere(tmp_path: Path) -> None:
    cluster = mixed()
    job = cluster.submit(gpus=1)
    with steering_in_memory(RecordedBackend(cluster), tmp_path) as controller:
        controller.cycle()
        assert not [a for a in controller.journal.past.actions(job) if a.knob is Knob.FEATURES]


# A message that comes after everything was put back leaves a hint, of whatever kind (decision 115).
@pytest.mark.parametrize("fault", [each for each in Fault if each is not Fault.LATE])
@pytest.mark.parametrize("killed", [True, False])
def test_whatever_becomes_of_a_message_no_feature_is_left(
    tmp_path: Path, fault: Fault, killed: bool
) -> None:
    cluster = mixed()
    own, asks = cluster.submit(gpus=1), cluster.submit(gpus=1, features="p100")
    backend = RecordedBackend(cluster, [fault])
    with steering_in_memory(backend, tmp_path, act=ACT) as controller:
        controller.cycle()
        if not killed:
            controller.leave("the test says so")
    with steering_in_memory(backend, tmp_path, Mode.SHADOW, act=ACT) as controller:
        if controller.owes:
            controller.settle()
        assert not controller.owes
    assert cluster.job(own).features == ""
    assert cluster.job(asks).features == "p100"
