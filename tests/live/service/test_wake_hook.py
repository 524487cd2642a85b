"""The hook that Slurm runs when jobs start and end: it wakes a listener, never waits for one."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from dovetail.live.install.native import rendered
from tests.live.conftest import StartCluster
from tests.live.slurm import NodeGroup, Options


@pytest.fixture
def hook(tmp_path: Path) -> Path:
    tmp_path.chmod(0o755)
    (tmp_path / "run").mkdir()
    path = tmp_path / "wake"
    path.write_text(rendered("wake", {"run_dir": str(tmp_path / "run")}))
    path.chmod(0o755)
    return path


@pytest.fixture
def pipe(tmp_path: Path, hook: Path) -> Iterator[int]:
    """The daemon's end of the pipe."""
    path = tmp_path / "run" / "wake"
    os.mkfifo(path)
    path.chmod(0o622)
    end = os.open(path, os.O_RDWR | os.O_NONBLOCK)
    yield end
    os.close(end)


def run(hook: Path) -> subprocess.CompletedProcess[str]:
    """The time limit is no measurement: a hook that waits would wait for ever."""
    return subprocess.run(
        [str(hook)], capture_output=True, text=True, timeout=60, env={"PATH": "/usr/bin:/bin"}
    )


def waiting(pipe: int) -> int:
    try:
        return len(os.read(pipe, 100_000))
    except BlockingIOError:
        return 0


def silent_success(done: subprocess.CompletedProcess[str]) -> bool:
    return (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_listener_gets_one_byte(hook: Path, pipe: int) -> None:
    assert silent_success(run(hook))
    assert waiting(pipe) == 1


def test_without_a_pipe_nothing_happens(hook: Path) -> None:
    assert silent_success(run(hook))
    assert list((hook.parent / "run").iterdir()) == []


def test_a_pipe_that_nobody_reads_is_not_waited_for(hook: Path) -> None:
    os.mkfifo(hook.parent / "run" / "wake")
    assert silent_success(run(hook))


def test_a_full_pipe_is_not_waited_for(hook: Path, pipe: int) -> None:
    with suppress(BlockingIOError):
        while True:
            os.write(pipe, b"x" * 4096)
    assert silent_success(run(hook))


@pytest.mark.parametrize("link", [False, True], ids=["file", "link"])
def test_a_file_in_its_place_is_left_alone(hook: Path, link: bool) -> None:
    target = hook.parent / "precious"
    target.write_text("as it was")
    place = hook.parent / "run" / "wake"
    place.symlink_to(target) if link else target.rename(place)
    assert silent_success(run(hook))
    assert place.read_text() == "as it was"


def test_a_link_to_a_pipe_is_not_followed(hook: Path, pipe: int) -> None:
    place = hook.parent / "run" / "wake"
    place.rename(hook.parent / "elsewhere")
    place.symlink_to(hook.parent / "elsewhere")
    assert silent_success(run(hook))
    assert waiting(pipe) == 0


def test_slurm_wakes_the_daemon_at_the_start_and_at_the_end_of_a_job(
    start_cluster: StartCluster, hook: Path, pipe: int
) -> None:
    cluster = start_cluster(Options(nodes=(NodeGroup("p100"),), prolog=hook, epilog=hook))
    long = cluster.submit(seconds=60)
    cluster.wait_for("RUNNING", long)
    assert waiting(pipe) == 1
    cluster.cancel(long)
    cluster.wait_until(lambda: waiting(pipe) == 1)


def test_jobs_run_although_no_daemon_does(start_cluster: StartCluster, hook: Path) -> None:
    cluster = start_cluster(Options(nodes=(NodeGroup("p100"),), prolog=hook, epilog=hook))
    cluster.wait_for("COMPLETED", cluster.submit(seconds=0.1))
