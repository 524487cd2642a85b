"""Runs a command where Slurm's programs are those of a root folder."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from tests.slurm_versions.roots import APART, Root

CHECKOUT = Path(__file__).resolve().parents[2]
SHARED = (Path("/tmp"), Path("/dev"), Path("/etc/hosts"))
"""What both sides see: the clusters' folders, the memory of faked clocks, names of hosts."""


def run_with(root: Root, words: Sequence[str], lock: int, log: IO[str] | None = None) -> int:
    """The command's exit code; what is mounted for it is gone with it.

    lock: an open descriptor that the command and its children keep; log: for what it prints.
    """
    own = [sys.executable, "-m", "tests.slurm_versions", "inside", str(root.folder), _namespace()]
    env = os.environ | {
        "PATH": os.pathsep.join([str(root.bin), os.environ.get("PATH", os.defpath)]),
    }
    if root.source.exists():
        env["DOVETAIL_SLURM_SOURCE"] = str(root.source)
    done = subprocess.run(
        [*APART, *own, "--", *words],
        env=env,
        pass_fds=(lock,),
        cwd=CHECKOUT,
        stdout=log,
        stderr=None if log is None else subprocess.STDOUT,
    )
    return done.returncode


def go_inside(root: Root, outside: str, words: Sequence[str]) -> None:
    """Mount what the root folder needs and become the command; only in a namespace of our own.

    outside: the namespace in which nothing may be mounted.
    """
    if _namespace() == outside:
        raise RuntimeError("nothing is mounted outside of a namespace of its own")
    _mount("-t", "proc", "proc", str(root.tree / "proc"))
    for place in (*SHARED, CHECKOUT):
        target = root.tree / place.relative_to("/")
        if place.is_dir():
            target.mkdir(parents=True, exist_ok=True)
        _mount("--rbind", str(place), str(target))
    os.execvp(words[0], list(words))


def _namespace() -> str:
    return os.readlink("/proc/self/ns/mnt")


def _mount(*words: str) -> None:
    subprocess.run(["mount", *words], check=True)
