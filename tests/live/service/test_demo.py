"""The whole daemon, on a laptop: loop, switches, journal, metrics."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from dovetail.cli.app import app
from dovetail.live.journal import JournalReader
from dovetail.live.model.mode import Mode
from dovetail.live.model.site import SiteSettings
from dovetail.live.service.daemon import Daemon
from dovetail.live.service.demo import GeneratedBackend, run_demo
from dovetail.live.service.switchboard import Switchboard
from dovetail.policies.policy import Policy
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


def test_the_twin_is_compiled_before_the_first_change_and_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend, changed = GeneratedBackend(seed=0), list[int]()

    def rehearse(policy: Policy, site: SiteSettings) -> int:
        changed.append(len(backend.cluster.site))
        raise OSError("no space left")  # an opinion is not worth the daemon's life

    monkeypatch.setattr("dovetail.live.twin.watch.rehearse_twin", rehearse)
    Daemon(
        memory_config(tmp_path, mode=Mode.ACTIVE),
        backend=backend,
        clocks=clocks_of(backend.cluster),
        pause=lambda: changed.append(len(backend.cluster.site)),
    ).run(cycles=3)
    assert changed[0] == 0
    assert len(changed) == 3  # once, then a pause after each cycle but the last
    assert all(changed[1:])


def test_shadow_mode_needs_no_rehearsal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[object]()
    monkeypatch.setattr(
        "dovetail.live.twin.watch.rehearse_twin", lambda *given: asked.append(given)
    )
    backend = GeneratedBackend(seed=0)
    config = memory_config(tmp_path, mode=Mode.SHADOW)
    Daemon(config, backend=backend, clocks=clocks_of(backend.cluster), pause=backend.pass_time).run(
        cycles=2
    )
    assert asked == []
