"""Parquet that Polars aborts on ends the trial, not the command; a good file is tried once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from dovetail.domain.errors import TraceError
from dovetail.traces import parquet_trial
from dovetail.traces.reader import read_trace
from dovetail.traces.synthetic import WORKLOADS, synthesize
from dovetail.traces.writer import write_trace
from tests.traces.samples import write_parquet

ABORTING = Path(__file__).parent / "files" / "one-flipped-bit.parquet"
"""Two jobs, with bit 0 of byte 90 inverted: Polars asks for 2**61 bytes and aborts."""


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def trials(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that a child process was started for."""
    seen: list[str] = []
    real = parquet_trial._try_out

    def counted(data: bytes, file: str) -> None:
        seen.append(file)
        real(data, file)

    monkeypatch.setattr(parquet_trial, "_try_out", counted)
    return seen


def jobs(path: Path) -> Path:
    return write_parquet(path, job_id=[1], submit_time=[0], duration=[1.0], req_gpus=[1])


def test_a_file_that_makes_polars_abort_is_an_error_in_words() -> None:
    found = subprocess.run(
        [sys.executable, "-m", "dovetail.cli", "trace", "inspect", str(ABORTING)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 2, found.stderr
    assert found.stderr.startswith("error: one-flipped-bit.parquet: truncated or broken Parquet")
    assert len(found.stderr.splitlines()) == 1


def test_a_foreign_file_is_tried_out_once(tmp_path: Path, trials: list[str]) -> None:
    path = jobs(tmp_path / "t.parquet")
    assert len(read_trace(path)) == len(read_trace(path)) == 1
    assert trials == ["t.parquet"]


def test_a_changed_file_is_tried_out_again(tmp_path: Path, trials: list[str]) -> None:
    path = jobs(tmp_path / "t.parquet")
    read_trace(path)
    path.write_bytes(ABORTING.read_bytes())
    with pytest.raises(TraceError, match="broken Parquet"):
        read_trace(path)
    with pytest.raises(TraceError, match="broken Parquet"):
        read_trace(path)
    assert len(trials) == 3


def test_our_own_files_need_no_trial(tmp_path: Path, trials: list[str]) -> None:
    write_trace(synthesize(WORKLOADS["helios"], jobs=5, seed=1), tmp_path / "t.parquet")
    assert len(read_trace(tmp_path / "t.parquet")) == 5
    assert trials == []


def test_a_cache_that_cannot_be_used_costs_a_trial_only(
    tmp_path: Path, trials: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    path = jobs(tmp_path / "t.parquet")
    assert len(read_trace(path)) == len(read_trace(path)) == 1
    assert len(trials) == 2


def test_the_cache_does_not_grow_for_ever(tmp_path: Path) -> None:
    for number in range(parquet_trial.MOST_LINES + 10):
        parquet_trial._remember(str(number))
    lines = (tmp_path / "cache" / "dovetail" / parquet_trial.FILE).read_text().splitlines()
    assert lines[-1] == str(parquet_trial.MOST_LINES + 9)
    assert len(lines) < parquet_trial.MOST_LINES
