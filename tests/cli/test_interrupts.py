"""Ctrl-C keeps what there is, says so, and ends with 130; workers say nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import CLUSTER


def interrupted(when: Callable[[], bool], *words: object, sign: int = signal.SIGINT) -> list[str]:
    """Start a command, interrupt it and all its workers at a moment, and return its stderr."""
    child = subprocess.Popen(
        [sys.executable, "-m", "dovetail.cli", *map(str, words)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # a process group of its own, as a shell gives it
        # Whoever runs the tests in the background ignores SIGINT, and children inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    try:
        while not when() and child.poll() is None:
            time.sleep(0.02)
        assert child.poll() is None, child.communicate()
        if sign == signal.SIGINT:
            os.killpg(child.pid, sign)  # as a terminal does: the workers, too
        else:
            child.send_signal(sign)
        _, said = child.communicate(timeout=120)
    finally:
        child.kill()
    # Python ends itself by SIGINT where C code was importing a module: 130 for a shell, too.
    assert child.returncode in (130, -signal.SIGINT), said
    return said.splitlines()


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_training_keeps_the_best_and_says_so(
    sign: int, small: Path, tmp_path: Path
) -> None:
    out = tmp_path / "model"
    *_, last = said = interrupted(
        (out / "README.md").exists,
        *("train", "--trace", small, "--cluster", "1x8:v100", "--out", out, "--epochs", 100_000),
        *("--length", 50, "--workers", 2),
        sign=sign,
    )
    assert last.startswith(f"interrupted: {out} holds the choice: --order {out}")
    assert all(line.startswith(("compiling", "interrupted")) for line in said), said


@pytest.mark.parametrize("seconds", [1.0, 2.5, 4.0])
def test_workers_that_are_still_starting_stay_quiet(seconds: float, small: Path) -> None:
    end = time.monotonic() + seconds
    said = interrupted(
        lambda: time.monotonic() > end,
        *(
            "compare",
            small,
            "--cluster",
            CLUSTER,
            "--sequences",
            50_000,
            "--length",
            50,
            "--workers",
            2,
        ),
    )
    assert all(line.startswith(("compiling", "interrupted")) for line in said), said
