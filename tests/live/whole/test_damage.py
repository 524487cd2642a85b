"""A full disk, a broken journal, a broken model: back to Slurm, and on again when mended."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from dovetail.live.config import JournalConfig
from dovetail.live.model.mode import Mode
from dovetail.policies.policy import SHIPPED
from tests.live.cycle.test_controller import fill, queue
from tests.live.service.test_daemon import touched
from tests.live.slurm import Cluster
from tests.live.steering import running, steering, until
from tests.live.whole.test_kinds_of_jobs import ranked


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path]:
    """A disk of its own that soon is full."""
    if os.geteuid() != 0:
        pytest.skip("only root may mount a small disk")
    folder.mkdir()
    argv = ["mount", "-t", "tmpfs", "-o", f"size={size},mode=0700", "tmpfs", str(folder)]
    mounted = subprocess.run(argv, capture_output=True, text=True)
    if mounted.returncode != 0:
        pytest.skip(f"no small disk here: {mounted.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill_up(disk: Path) -> Path:
    """A file that takes all the space that is left."""
    rest = disk / "rest"
    with rest.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            return rest


def test_a_full_disk_ends_active_mode_until_there_is_space_and_somebody_asks_again(
    cluster: Cluster, tmp_path: Path
) -> None:
    fill(cluster)
    queue(cluster, [50, 20, 40])
    with small_disk(tmp_path / "disk", "1m") as disk:
        journal = JournalConfig(path=str(disk / "journal.sqlite"))
        with running(cluster, tmp_path, mode=Mode.ACTIVE, period=0.3, journal=journal) as daemon:
            daemon.wait_for("changes sent")
            rest = fill_up(disk)
            daemon.wait_for("left active mode (the journal cannot be written")
            until(lambda: not touched(cluster), "factors are back")
            daemon.wait_for("the journal cannot be written, nothing done")
            assert "free some space" in daemon.said
            rest.unlink()
            cycles = daemon.said.count("shadow: 3 wait")
            daemon.wait_for("shadow: 3 wait", cycles + 2)
            assert not touched(cluster)
            sent = daemon.said.count("changes sent")
            daemon.command("mode", "active")
            daemon.wait_for("changes sent", sent + 1)
            assert daemon.stop() == 0
    assert not touched(cluster)


def test_a_journal_that_was_damaged_is_set_aside_and_every_factor_taken_back(
    cluster: Cluster, tmp_path: Path
) -> None:
    fill(cluster)
    queue(cluster, [50, 20, 40])
    with running(cluster, tmp_path, mode=Mode.ACTIVE, period=0.3) as daemon:
        daemon.wait_for("changes sent")
        daemon.kill()
        assert touched(cluster)
        path = tmp_path / "journal.sqlite"
        path.write_bytes(path.read_bytes()[:5000] + bytes(20_000))
        daemon.again()
        daemon.wait_for("was damaged: kept as")
        daemon.wait_for("found jobs that were touched")
        daemon.wait_for("changes sent", 2)
        assert daemon.stop() == 0
    assert not touched(cluster)


def with_factor(cluster: Cluster) -> set[int]:
    return {job for job, factor in cluster.site_factors().items() if factor}


def test_a_lost_journal_is_no_all_clear_and_an_operator_s_own_factor_stays(
    cluster: Cluster, tmp_path: Path
) -> None:
    fill(cluster)
    jobs = queue(cluster, [50, 20, 40])
    own = cluster.submit(gpus=4, extra=("--time=90",))
    with running(cluster, tmp_path, mode=Mode.ACTIVE, period=0.3) as daemon:
        daemon.wait_for("changes sent")
        daemon.kill()
        cluster.run(["scontrol", "update", f"jobid={own}", "SiteFactor=500"])
        ours = with_factor(cluster) - {own}
        assert ours
        assert ours <= set(jobs)
        for file in tmp_path.glob("journal.sqlite*"):
            file.unlink()
        (tmp_path / "run" / "first_factors").write_text("left behind")
        done = daemon.command("restore", check=False)
        assert done.returncode == 1
        assert "no journal" in done.stdout
        assert f"{len(ours)} with a site factor that follows Dovetail's pattern" in done.stdout
        assert "1 with a site factor that nobody can explain" in done.stdout
        assert "--ours" in done.stderr
        assert not list(tmp_path.glob("journal.sqlite*"))  # nothing is begun by somebody else
        assert not (tmp_path / "run" / "first_factors").exists()
        daemon.again()  # goes on, and says so
        daemon.wait_for("is in no journal: `dovetail live restore --ours` resets them")
        daemon.stop()
        done = daemon.command("restore", "--ours", check=False)
        assert with_factor(cluster) == {own}, done.stdout


def test_a_damaged_model_decides_nothing_and_a_mended_one_is_taken_up(
    cluster: Cluster, tmp_path: Path
) -> None:
    fill(cluster)
    ranked(cluster, *queue(cluster, [50, 20, 40]))
    model = tmp_path / "model"
    shutil.copytree(SHIPPED, model)
    good = {name: (model / name).read_bytes() for name in ("policy.npz", "card.json")}
    draw = np.random.default_rng(0)
    with steering(cluster, tmp_path, policy=str(model)) as controller:
        for name, content in good.items():
            damaged = bytearray(content)
            for place in draw.integers(0, len(content), 40):
                damaged[place] ^= 0xFF
            for broken in (bytes(damaged), content[: len(content) // 2], b""):
                (model / name).write_bytes(broken)
                controller.take(controller.config)
                report = controller.cycle()
                assert report.sentence.startswith("active: nothing decided"), report.sentence
                assert str(model) in report.sentence
                assert not touched(cluster)
            (model / name).unlink()
            assert controller.cycle().sentence.startswith("active: nothing decided")
            (model / name).write_bytes(content)
        report = controller.cycle()
        assert "ordered 3 jobs" in report.sentence
        assert report.sent > 0
