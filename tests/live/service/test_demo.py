"""The whole daemon, on a laptop: loop, switches, journal, metrics."""

from __future__ import annotations

from pathlib import Path

from typer.testing import CliRunner

from dovetail.cli.app import app
from dovetail.live.journal import JournalReader
from dovetail.live.model.mode import Mode
from dovetail.live.service.daemon import Daemon
from dovetail.live.service.demo import GeneratedBackend, run_demo
from dovetail.live.service.switchboard import Switchboard
from tests.live.memory import clocks_of, memory_config


def test_the_demo_shows_cycles_the_journal_and_metrics(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["live", "demo", "--cycles", "3", "--folder", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert "active: " in done.output
    assert "sjf puts it" in done.output
    assert "dovetail_cycles_total 3.0" in done.output
    assert "jobs that still have a factor of ours: 0" in done.output
    with JournalReader.open(tmp_path / "journal.sqlite") as past:
        assert len(past.cycles(last=10)) == 3


def test_the_same_seed_gives_the_same_demo(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    first, second = (list(run_demo(tmp_path / name, 2, seed=5)) for name in "ab")
    assert first == second


def test_the_kill_switch_ends_active_mode_and_clears_the_queue(tmp_path: Path) -> None:
    backend = GeneratedBackend(seed=0)
    config = memory_config(tmp_path, mode=Mode.ACTIVE)
    passed = []

    def pause() -> None:
        passed.append(len(backend.cluster.site))
        backend.pass_time()
        if len(passed) == 2:
            (Path(config.run_dir) / "stop").touch()

    Daemon(config, backend=backend, clocks=clocks_of(backend.cluster), pause=pause).run(cycles=5)
    assert passed[1] > 0
    jobs = backend.cluster.snapshot().by_id
    assert not [job for job in backend.cluster.site if jobs[job].pending or jobs[job].running]
    assert Switchboard(Path(config.run_dir)).asked_mode() is Mode.SHADOW
