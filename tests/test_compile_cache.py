"""Compiled code is loaded from a folder of our own only, and else made in memory."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

COMPILE = """
import os
{before}import dovetail
from dovetail.compiled.functions import kernel
def twice(x): return 2 * x
print(os.environ.get("NUMBA_CACHE_DIR"), kernel(twice)(21))
"""


def run_a_kernel(folder: Path, before: str = "", **environment: str) -> tuple[str, str]:
    """What a fresh Python says of its cache and of a kernel, and its complaints.

    before: a line that it runs before ours is imported.
    """
    kept = {key: value for key, value in os.environ.items() if key in ("PATH", "PYTHONPATH")}
    program = folder / "program.py"
    program.write_text(COMPILE.format(before=before))
    done = subprocess.run(
        [sys.executable, str(program)],
        env={**kept, **environment}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout.strip(), done.stderr


def test_a_folder_of_our_own_is_made_and_used(tmp_path: Path) -> None:
    said, complaints = run_a_kernel(tmp_path, XDG_CACHE_HOME=str(tmp_path))
    folder = said.removesuffix(" 42")
    assert Path(folder).is_relative_to(tmp_path / "dovetail")
    assert Path(folder).stat().st_mode & 0o777 == 0o700
    assert list(Path(folder).rglob("*.nbc"))
    assert complaints == ""


def test_old_folders_are_emptied_but_stay_closed_and_those_in_use_are_left(tmp_path: Path) -> None:
    base = tmp_path / "dovetail"
    for name, days in (("a", 9), ("b", 8), ("c", 7), ("d", 6), ("e", 5), ("today", 0.1)):
        part = base / name / "kernels"
        part.mkdir(parents=True)
        (part / "kernel.nbc").touch()
        (base / name).chmod(0o700)
        os.utime(base / name, (time.time() - days * 86_400,) * 2)
    base.chmod(0o700)
    run_a_kernel(tmp_path, XDG_CACHE_HOME=str(tmp_path))
    run_a_kernel(tmp_path, XDG_CACHE_HOME=str(tmp_path))
    old = {"a", "b", "c"}
    for name in (*old, "d", "e", "today"):
        assert (base / name).stat().st_mode & 0o777 == 0o700
        assert any((base / name).iterdir()) == (name not in old)


def test_who_imports_numba_first_gets_no_code_beside_the_source(tmp_path: Path) -> None:
    said, _ = run_a_kernel(tmp_path, "import numba\n", XDG_CACHE_HOME=str(tmp_path))
    assert list(Path(said.removesuffix(" 42")).rglob("*.nbc"))
    assert not (tmp_path / "__pycache__").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_without_a_home_nothing_is_loaded_from_the_shared_temporary_folder(tmp_path: Path) -> None:
    trap = tmp_path / f"dovetail-{os.geteuid()}"
    trap.mkdir()
    trap.chmod(0o777)
    os.chown(trap, 61_234, 61_234)
    said, complaints = run_a_kernel(tmp_path, TMPDIR=str(tmp_path), HOME="/dev/null")
    assert said == "None 42"
    assert list(trap.iterdir()) == []
    assert complaints.count("compiled code is not kept") == 1


@pytest.mark.parametrize("mode", [0o777, 0o755])
def test_a_folder_that_others_can_enter_is_refused(tmp_path: Path, mode: int) -> None:
    folder = tmp_path / "cache"
    folder.mkdir()
    folder.chmod(mode)
    said, complaints = run_a_kernel(tmp_path, NUMBA_CACHE_DIR=str(folder))
    assert said == "None 42"
    assert f"chmod 700 {folder}" in complaints


def test_a_link_to_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir(mode=0o700)
    tmp_path.chmod(0o1777)
    (tmp_path / "cache").symlink_to("real")
    said, _ = run_a_kernel(tmp_path, NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    assert said == "None 42"


def test_the_notice_of_compiling_is_shown_before_it_begins_and_not_again(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "dovetail.cli", "simulate", "synth:helios", "--cluster", "2x8"]
    command += ["--jobs", "5", "--backfill", "none", "--estimates", "exact"]
    fresh = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    fresh.pop("NUMBA_CACHE_DIR", None)
    with subprocess.Popen(command, env=fresh, stderr=subprocess.PIPE, text=True) as first:
        assert first.stderr is not None
        assert any("compiling the simulator" in line for line in first.stderr)
        first.kill()  # the half minute that it warns of is not waited for
    for _ in range(2):  # with the cache of all tests: the second finds it compiled in any case
        later = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "compiling" not in later.stderr
