"""What a user can get wrong is answered in one line that says what to do."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import typer

from dovetail.cli.failures import FailsInWords
from tests.cli.conftest import CLUSTER, Command


def refused(said: object) -> str:
    """The one line; no traceback, nothing on stdout, exit code 2."""
    code, out, err = (getattr(said, name) for name in ("code", "out", "err"))
    assert (code, out) == (2, "")
    lines = [line for line in err.splitlines() if not line.startswith(("note:", "compiling"))]
    assert len(lines) == 1, err
    assert lines[0].startswith("error: ")
    return str(lines[0])


@pytest.mark.parametrize(
    ("option", "name", "meant"),
    [
        ("--order", "sfj", "sjf"),
        ("--placement", "bestfit", "best-fit"),
        ("--backfill", "eazy", "easy"),
    ],
)
def test_a_misspelt_policy_is_answered_with_the_nearest(
    dovetail: Command, small: Path, option: str, name: str, meant: str
) -> None:
    line = refused(dovetail("simulate", small, "--cluster", CLUSTER, option, name))
    assert f"{name!r}: did you mean {meant!r}?" in line


def test_a_misspelt_policy_of_a_list(dovetail: Command, small: Path) -> None:
    line = refused(dovetail("compare", small, "--cluster", CLUSTER, "--policies", "fcfs,sff"))
    assert "unknown ordering 'sff'" in line


def test_an_empty_place_in_a_list(dovetail: Command, small: Path) -> None:
    line = refused(dovetail("compare", small, "--cluster", CLUSTER, "--policies", "fcfs,,saf"))
    assert "an empty name between commas" in line


def test_a_program_that_the_daemons_account_may_not_read_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    group = FailsInWords(name="dovetail", callback=lambda: __import__("no_such_module"))
    monkeypatch.setattr(group, "invoke_without_command", True)
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(typer.Exit):
        group.invoke(group.make_context("dovetail", []))
    assert "may not read" in capsys.readouterr().err


def test_a_missing_file(dovetail: Command, tmp_path: Path) -> None:
    line = refused(dovetail("trace", "inspect", tmp_path / "nowhere.csv"))
    assert "nowhere.csv: No such file or directory" in line


def test_a_missing_file_in_a_process_of_its_own(process: Command) -> None:
    assert "No such file" in refused(process("simulate", "nowhere", "--cluster", CLUSTER))


def test_a_workload_that_does_not_exist(dovetail: Command) -> None:
    line = refused(dovetail("simulate", "synth:helois", "--cluster", CLUSTER))
    assert "did you mean 'helios'?" in line


@pytest.mark.parametrize("spec", ["64by8", "2x0", "0x8", "2x99:v100", "nowhere.toml"])
def test_a_bad_cluster(dovetail: Command, spec: str) -> None:
    refused(dovetail("cluster", "show", spec))


def test_a_bad_cluster_says_how_to_write_one(dovetail: Command, small: Path) -> None:
    line = refused(dovetail("simulate", small, "--cluster", "64by8"))
    assert "for example 64x8:v100,20x4:p100" in line


def test_a_truncated_parquet(dovetail: Command, small: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut.parquet"
    cut.write_bytes(small.read_bytes()[:-100])
    line = refused(dovetail("simulate", cut, "--cluster", CLUSTER))
    assert "cut.parquet: truncated or broken Parquet" in line


def test_an_empty_file(dovetail: Command, tmp_path: Path) -> None:
    (tmp_path / "empty.csv").touch()
    line = refused(dovetail("trace", "inspect", tmp_path / "empty.csv"))
    assert "the file is empty" in line


def test_a_trace_without_jobs(dovetail: Command, tmp_path: Path) -> None:
    path = tmp_path / "none.swf"
    path.write_text("; Version: 2.2\n")
    assert "no jobs to schedule" in refused(dovetail("trace", "inspect", path))


def test_estimates_that_do_not_exist(dovetail: Command, small: Path) -> None:
    line = refused(dovetail("simulate", small, "--cluster", CLUSTER, "--estimates", "perfect"))
    assert "write exact, limit, limit:power=0.5" in line


def test_a_target_folder_that_does_not_exist_is_refused_before_the_work(
    dovetail: Command, small: Path, tmp_path: Path
) -> None:
    out = tmp_path / "no" / "s.json"
    line = refused(dovetail("simulate", small, "--cluster", CLUSTER, "--json", out))
    assert "make it first: mkdir -p" in line


def test_windows_longer_than_the_trace(dovetail: Command, small: Path) -> None:
    line = refused(dovetail("compare", small, "--cluster", CLUSTER, "--sequences", 2))
    assert "too few for a window of 1024" in line


def test_a_load_for_a_file_is_refused(dovetail: Command, small: Path) -> None:
    line = refused(dovetail("simulate", small, "--cluster", CLUSTER, "--load", 0.5))
    assert "for workloads such as synth:helios" in line


def test_the_shipped_policy_is_among_what_may_have_been_meant(
    dovetail: Command, small: Path
) -> None:
    line = refused(dovetail("simulate", small, "--cluster", CLUSTER, "--order", "dovetial"))
    assert "did you mean 'dovetail'?" in line


@pytest.mark.parametrize(
    ("words", "meant"),
    [(("simulat",), "'simulate'"), (("trace", "inport"), "'import'"), (("mig", "plam"), "'plan'")],
)
def test_a_misspelt_command_is_answered_with_the_nearest(
    dovetail: Command, words: tuple[str, ...], meant: str
) -> None:
    said = dovetail(*words)
    assert said.code == 2
    assert f"Did you mean {meant}" in said.err


def test_brackets_are_no_markup(dovetail: Command) -> None:
    assert "dovetail-scheduler[milp]" in dovetail("policies").out
