"""What root asks for is done by the daemon's account, and no link leads anywhere else."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from dovetail.domain.errors import ConfigError
from dovetail.live.config import JournalConfig, LiveConfig, load_config
from dovetail.live.cycle.policy import load_policy
from dovetail.live.doctor.facts import Facts, look_around
from dovetail.live.journal import Journal, JournalError, JournalReader
from dovetail.live.model.mode import Mode
from dovetail.live.service.switchboard import Switchboard

NOBODY = 65_534

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that other accounts can reach, which pytest's own are not."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def live(config: Path, *words: str) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-m", "dovetail.cli", "live", *words, "--config", str(config)]
    return subprocess.run(argv, capture_output=True, text=True, timeout=120)


@needs_root
def test_root_asks_for_a_mode_as_the_owner_of_the_run_folder(open_folder: Path) -> None:
    run, config = open_folder / "run", open_folder / "dovetail.toml"
    run.mkdir(mode=0o750)
    os.chown(run, NOBODY, NOBODY)
    config.write_text(f'run_dir = "{run}"\n')
    done = live(config, "mode", "advise")
    assert done.returncode == 0, done.stderr
    assert (run / "mode").read_text() == "advise root\n"
    assert (run / "mode").stat().st_uid == NOBODY
    assert Switchboard(run).asked_mode() is Mode.ADVISE


@needs_root
def test_root_acts_as_the_owner_of_the_journal_where_the_run_folder_is_root_s(
    open_folder: Path,
) -> None:
    run, state, config = open_folder / "run", open_folder / "state", open_folder / "dovetail.toml"
    run.mkdir(mode=0o755)
    state.mkdir(mode=0o750)
    os.chown(state, NOBODY, NOBODY)
    config.write_text(f'run_dir = "{run}"\n[journal]\npath = "{state}/journal.sqlite"\n')
    live(config, "--cycles", "1")  # fails later, as there is no Slurm that it could ask
    made = list(state.iterdir())
    assert {path.stat().st_uid for path in made} <= {NOBODY}


@needs_root
def test_who_may_not_look_is_told_so_in_words(open_folder: Path) -> None:
    run, state = open_folder / "run", open_folder / "state"
    for folder in (run, state):
        folder.mkdir(mode=0o700)
    (run / "status.json").write_text("{}")
    Journal.open(JournalConfig(path=str(state / "journal.sqlite"))).close()
    os.seteuid(NOBODY)
    try:
        with pytest.raises(ConfigError, match="run as the daemon's user or root"):
            Switchboard(run).status()
        with pytest.raises(JournalError, match="run it as the daemon's user or as root"):
            JournalReader.open(state / "journal.sqlite")
        facts = look_around(Facts(LiveConfig(run_dir=str(run), policy="sjf")))
        assert "may not look" in facts.run_dir_problem or "may not" in facts.run_dir_problem
        assert not facts.stopped
    finally:
        os.seteuid(0)


@needs_root
def test_root_writes_through_no_link_that_the_daemon_planted(open_folder: Path) -> None:
    run, config, victim = open_folder / "run", open_folder / "dovetail.toml", open_folder / "shadow"
    victim.write_text("precious")
    run.mkdir(mode=0o750)
    (run / "mode").symlink_to(victim)
    os.lchown(run / "mode", NOBODY, NOBODY)
    os.chown(run, NOBODY, NOBODY)
    config.write_text(f'run_dir = "{run}"\n')
    live(config, "mode", "advise")
    assert victim.read_text() == "precious"


def test_a_link_under_the_name_of_the_part_that_is_written_leads_nowhere(tmp_path: Path) -> None:
    board, victim = Switchboard(tmp_path / "run"), tmp_path / "victim"
    board.open()
    victim.write_text("precious")
    (board.folder / f".mode.{os.getpid()}").symlink_to(victim)
    board.ask_for(Mode.ADVISE, "ada")
    board.close()
    assert victim.read_text() == "precious"


def test_a_mode_behind_a_link_is_not_taken(tmp_path: Path) -> None:
    board = Switchboard(tmp_path / "run")
    board.open()
    (tmp_path / "elsewhere").write_text("active ada")
    (board.folder / "mode").symlink_to(tmp_path / "elsewhere")
    assert board.asked_mode() is None
    board.close()


@pytest.mark.parametrize("suffix", ["", "-wal", ".lock"])
def test_a_journal_behind_a_link_is_refused(tmp_path: Path, suffix: str) -> None:
    folder = tmp_path / "state"
    folder.mkdir()
    config = JournalConfig(path=str(folder / "journal.sqlite"))
    (tmp_path / "elsewhere").touch()
    (folder / f"journal.sqlite{suffix}").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(JournalError):
        Journal.open(config)
    assert (tmp_path / "elsewhere").read_bytes() == b""


def test_a_journal_in_a_folder_that_others_may_write_is_refused(tmp_path: Path) -> None:
    config = JournalConfig(path=str(tmp_path / "journal.sqlite"))
    Journal.open(config).close()
    tmp_path.chmod(0o777)
    with pytest.raises(JournalError, match="others may write it"):
        Journal.open(config)
    with pytest.raises(JournalError, match="others may write it"):
        JournalReader.open(tmp_path / "journal.sqlite")


def test_a_configuration_in_a_folder_that_others_may_write_is_refused(tmp_path: Path) -> None:
    (tmp_path / "dovetail.toml").write_text('policy = "fcfs"\n')
    tmp_path.chmod(0o777)
    with pytest.raises(ConfigError, match="commands the daemon"):
        load_config(tmp_path / "dovetail.toml")


def test_a_model_that_others_may_write_is_refused_unread(tmp_path: Path) -> None:
    (tmp_path / "policy.npz").write_bytes(b"no model at all")
    (tmp_path / "policy.npz").chmod(0o666)
    with pytest.raises(PermissionError, match="others may write it"):
        load_policy(str(tmp_path))
