"""slurmrestd on a port of loopback, with tokens: reading, steering, and tokens that do not do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from dovetail.live.backends import BACKENDS
from dovetail.live.backends.base import Unreachable
from dovetail.live.backends.slurm.rest import RestClient
from dovetail.live.config import ActConfig, SlurmConfig
from dovetail.live.model.mode import Mode
from tests.live.cycle.test_controller import fill, queue
from tests.live.slurm import SMALL_LAYOUT, Cluster, Options, why_not
from tests.live.steering import steering
from tests.live.whole.test_kinds_of_jobs import ranked

OPTIONS = Options(nodes=SMALL_LAYOUT, rest="jwt over TCP")


@pytest.fixture(scope="module")
def _served() -> Iterator[Cluster]:
    reason = why_not(OPTIONS)
    if reason is not None:
        pytest.skip(reason)
    with Cluster(OPTIONS) as cluster:
        yield cluster


@pytest.fixture
def served(_served: Cluster) -> Iterator[Cluster]:
    """With slurmrestd on a port; empty and idle."""
    yield _served
    _served.cancel_all()
    _served.wait_idle()


def with_token(cluster: Cluster, path: Path, token: str) -> SlurmConfig:
    path.touch(mode=0o600)
    path.write_text(token)
    return replace(cluster.rest.config, rest_token_file=str(path))


def test_all_is_read_and_steered_over_a_port(served: Cluster, tmp_path: Path) -> None:
    assert served.rest.config.rest_url.startswith("http://127.0.0.1:")
    fill(served)
    jobs = queue(served, [50, 20, 40])
    ranked(served, *jobs)
    config = served.rest.config
    with steering(served, tmp_path, slurm=config, act=ActConfig(knob="priority")) as controller:
        report = controller.cycle()
        assert (report.failed, report.mode) == (0, Mode.ACTIVE)
        order = sorted(jobs, key=lambda job: -served.priorities()[job])
        assert order == [jobs[1], jobs[2], jobs[0]]
        assert "NOT" not in controller.leave("the test says so")
    text, rest = (BACKENDS[name](config).read() for name in ("commands", "rest"))
    assert {job.id: job.gpus for job in text.jobs} == {job.id: job.gpus for job in rest.jobs}


def test_without_a_token_and_with_a_wrong_one_nothing_is_told(
    served: Cluster, tmp_path: Path
) -> None:
    forged = served.token()[:-6] + "AAAAAA"
    for config in (
        replace(served.rest.config, rest_token_file=""),
        with_token(served, tmp_path / "forged", forged),
    ):
        with pytest.raises(Unreachable, match="slurmrestd"):
            RestClient(config).get("jobs")


def test_a_token_that_has_expired_is_refused_until_it_is_renewed(
    served: Cluster, tmp_path: Path
) -> None:
    config = with_token(served, tmp_path / "token", served.token(seconds=1))
    client = RestClient(config)

    def refused() -> bool:
        try:
            client.get("jobs")
        except Unreachable:
            return True
        return False

    # Slurm allows for clocks that differ by a few seconds.
    served.wait_until(refused, timeout=30, every=0.5)
    with_token(served, tmp_path / "token", f"SLURM_JWT={served.token()}\n")
    assert "jobs" in client.get("jobs")
