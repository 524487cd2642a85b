"""Commands as a user types them, and the small files that they work on."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dovetail.cli.app import app
from dovetail.traces.synthetic import WORKLOADS, synthesize
from dovetail.traces.writer import write_trace

CLUSTER = "4x8:v100"


@dataclass(frozen=True)
class Said:
    """What a command answered."""

    code: int
    out: str
    err: str


Command = Callable[..., Said]


@pytest.fixture
def dovetail(monkeypatch: pytest.MonkeyPatch) -> Command:
    """Run a command in this process, on a terminal of 120 columns."""
    monkeypatch.setenv("COLUMNS", "120")

    def run(*arguments: object) -> Said:
        found = CliRunner().invoke(app, [str(argument) for argument in arguments])
        if found.exception is not None and not isinstance(found.exception, SystemExit):
            raise found.exception  # a traceback is what a user must never see
        return Said(found.exit_code, found.stdout, found.stderr)

    return run


@pytest.fixture
def process() -> Command:
    """Run a command in a process of its own."""

    def run(*arguments: object) -> Said:
        found = subprocess.run(
            [sys.executable, "-m", "dovetail.cli", *map(str, arguments)],
            capture_output=True,
            text=True,
            timeout=300,
            env={**os.environ, "COLUMNS": "120"},
            check=False,
        )
        return Said(found.returncode, found.stdout, found.stderr)

    return run


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trace of 120 jobs for 32 GPUs, as a file."""
    path = tmp_path_factory.mktemp("traces") / "small.parquet"
    write_trace(synthesize(WORKLOADS["helios"], jobs=120, seed=1, load=1.2, cluster_gpus=32), path)
    return path
