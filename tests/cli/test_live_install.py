"""`dovetail live install` and `doctor` as a user types them."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from dovetail.cli.failures import FailsInWords
from dovetail.cli.live.doctor import live_doctor
from dovetail.cli.live.install import live_install
from tests.cli.conftest import Said


def say(*arguments: object) -> Said:
    app = typer.Typer(cls=FailsInWords, rich_markup_mode=None)
    app.command("install")(live_install)
    app.command("doctor")(live_doctor)
    found = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if found.exception is not None and not isinstance(found.exception, SystemExit):
        raise found.exception
    return Said(found.exit_code, found.stdout, found.stderr)


@pytest.fixture
def conf(tmp_path: Path) -> Path:
    path = tmp_path / "etc" / "slurm" / "slurm.conf"
    path.parent.mkdir(parents=True)
    path.write_text("ClusterName=x\n")
    return path


def files(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("options", [(), ("--dry-run",), ("--uninstall",)])
def test_without_yes_everything_is_shown_and_nothing_done(
    conf: Path, tmp_path: Path, options: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SLURM_CONF", raising=False)
    said = say("install", "--prefix", tmp_path, *options)
    assert said.code == 0
    assert files(tmp_path) == {conf}
    assert conf.read_text() == "ClusterName=x\n"
    if "--uninstall" not in options:
        assert "+JobSubmitPlugins=lua" in said.out
        assert "+++ /etc/systemd/system/dovetail-live.service" in said.out
        assert "nothing was done" in said.out
        assert "adminlevel=operator" in said.out


def test_yes_does_what_was_shown_and_uninstall_takes_it_back(
    conf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SLURM_CONF", raising=False)
    said = say("install", "--prefix", tmp_path, "--yes")
    assert said.code == 0
    assert "8 files changed" in said.out
    assert "JobSubmitPlugins=lua" in conf.read_text()
    again = say("install", "--prefix", tmp_path, "--yes")
    assert "every file is as it should be" in again.out
    back = say("install", "--prefix", tmp_path, "--uninstall", "--yes")
    assert back.code == 0
    assert "wake: slurmctld uses it until `scontrol reconfigure`; then run this again" in back.out
    assert say("install", "--prefix", tmp_path, "--uninstall", "--yes").code == 0
    assert conf.read_text() == "ClusterName=x\n"
    assert {path.name for path in files(tmp_path) if "before-dovetail" not in path.name} == {
        "slurm.conf"
    }


def test_a_conflict_is_refused_with_advice(
    conf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SLURM_CONF", raising=False)
    conf.write_text("PrologSlurmctld=/site/prolog\n")
    said = say("install", "--prefix", tmp_path, "--yes")
    assert said.code == 2
    assert "/site/prolog" in said.err
    assert "nothing was changed" in said.err
    assert files(tmp_path) == {conf}


def test_escape_sequences_in_slurm_conf_do_not_reach_the_terminal(
    conf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SLURM_CONF", raising=False)
    conf.write_bytes(b"# \x1b[2J \xff\n")
    said = say("install", "--prefix", tmp_path)
    assert said.code == 0
    assert "\x1b" not in said.out
    assert "\\x1b[2J" in said.out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--dry-run", "--yes"), "contradict"),
        (("--accounting",), "needs --yes"),
        (("--parts", "hooks,everything"), "expected some of service, hooks, submit"),
        (("--slurm-conf", "/nowhere/slurm.conf"), "no such file"),
    ],
)
def test_options_that_make_no_sense_are_refused_in_words(
    tmp_path: Path, options: tuple[str, ...], words: str
) -> None:
    said = say("install", "--prefix", tmp_path, *options)
    assert said.code == 2
    assert words in said.err


def test_the_doctor_ends_with_1_where_there_is_a_problem(tmp_path: Path) -> None:
    config = tmp_path / "dovetail.toml"
    config.write_text(f'policy = "fcfs"\n[slurm]\nbin = "{tmp_path}"\n')
    said = say("doctor", "--config", config)
    assert said.code == 1
    assert "ok       configuration:" in said.out
    assert "problem  programs: not found: scontrol" in said.out
    assert "→ install Slurm's client programs" in said.out


@pytest.mark.parametrize("command", ["install", "doctor"])
def test_help_has_an_example(command: str) -> None:
    assert f"dovetail live {command}" in say(command, "--help").out
