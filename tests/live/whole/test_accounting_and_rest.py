"""With accounting and slurmrestd: either may fail, and an error is never taken for done."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from dovetail.live.backends import BACKENDS
from dovetail.live.backends.base import Unreachable
from dovetail.live.backends.slurm.rest import RestClient
from dovetail.live.config import ActConfig
from dovetail.live.model.decision import Change, Knob
from dovetail.live.model.mode import Mode
from tests.live.cycle.test_controller import fill, queue
from tests.live.slurm import SMALL_LAYOUT, Accounting, Cluster, Options, why_not
from tests.live.steering import steering
from tests.live.whole.test_kinds_of_jobs import ranked

OPTIONS = Options(nodes=SMALL_LAYOUT, accounting=Accounting(), rest="jwt")


@pytest.fixture(scope="module")
def _accounted() -> Iterator[Cluster]:
    reason = why_not(OPTIONS)
    if reason is not None:
        pytest.skip(reason)
    with Cluster(OPTIONS) as cluster:
        yield cluster


@pytest.fixture
def accounted(_accounted: Cluster) -> Iterator[Cluster]:
    """With slurmdbd and slurmrestd; empty and idle."""
    yield _accounted
    _accounted.cancel_all()
    _accounted.wait_idle()


def test_an_answer_with_errors_is_not_done_though_http_says_200(accounted: Cluster) -> None:
    backend = BACKENDS["rest"](accounted.rest.config)
    ended = accounted.submit(gpus=1, seconds=0)
    accounted.wait_for("COMPLETED", ended)
    fill(accounted)
    (waits,) = queue(accounted, [20])
    unknown = waits + 1000
    # Slurm 22.05 answers such a question with 200, later versions with 500.
    _, answer = accounted.rest.ask("POST", f"job/{waits}", {"priority": "x"})
    assert answer["errors"]
    with pytest.raises(Unreachable, match=r"(?i)priority|parse|expected"):
        RestClient(accounted.rest.config).post(f"job/{waits}", {"priority": "x"})
    results = backend.apply(
        [Change(job, str(job), Knob.PRIORITY, None, 5000, "") for job in (ended, waits, unknown)]
    )
    assert [result.done for result in results] == [False, True, False]
    assert "Job has already finished" in results[0].error
    assert "Invalid job id" in results[2].error
    assert accounted.priorities()[waits] == 5000


def test_steering_by_rest_gives_everything_back_and_outlives_slurmrestd(
    accounted: Cluster, tmp_path: Path
) -> None:
    fill(accounted)
    jobs = queue(accounted, [50, 20, 40])
    ranked(accounted, *jobs)
    config = accounted.rest.config
    with steering(accounted, tmp_path, slurm=config, act=ActConfig(knob="priority")) as controller:
        assert controller.cycle().failed == 0
        assert sorted(jobs, key=lambda job: -accounted.priorities()[job]) == [
            jobs[1],
            jobs[2],
            jobs[0],
        ]
        accounted.slurmrestd.kill()
        accounted.layout.rest_socket.unlink()
        report = controller.cycle()
        assert "Slurm cannot be read, nothing done: slurmrestd" in report.sentence
        accounted.slurmrestd.start()
        assert controller.cycle().mode is Mode.ACTIVE
        assert "NOT" not in controller.leave("the test says so")
    frozen = {factor.frozen for factor in BACKENDS["rest"](config).factors().values()}
    assert frozen == {False}


def test_a_token_file_that_is_away_for_a_moment_ends_nothing(
    accounted: Cluster, tmp_path: Path
) -> None:
    config = replace(accounted.rest.config, rest_token_file=str(tmp_path / "token"))
    with steering(accounted, tmp_path, Mode.SHADOW, slurm=config) as controller:
        assert "no token" in controller.cycle().sentence


def test_scheduling_and_steering_go_on_without_slurmdbd(accounted: Cluster, tmp_path: Path) -> None:
    fill(accounted)
    jobs = queue(accounted, [50, 20, 40])
    ranked(accounted, *jobs)
    with steering(accounted, tmp_path) as controller:
        accounted.slurmdbd.stop()
        try:
            report = controller.cycle()
            assert (report.failed, report.mode) == (0, Mode.ACTIVE)
            assert report.sent > 0
            late = accounted.submit(gpus=4, seconds=1, gpu_type="p100", minutes=5)
            ranked(accounted, late)
            controller.cycle()
            assert accounted.priorities()[late] == max(accounted.priorities().values())
            controller.leave("the test says so")
        finally:
            accounted.slurmdbd.start()
    assert not any(accounted.site_factors().values())
