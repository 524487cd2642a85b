"""Runs live tests on each release's Slurm and says, version by version, what came of it."""

from __future__ import annotations

import fcntl
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tests.slurm_versions.mirror import NoMirror
from tests.slurm_versions.namespace import CHECKOUT, run_with
from tests.slurm_versions.releases import RELEASES, Release
from tests.slurm_versions.roots import RootProblem, build, locked

QUICK = (
    "tests/live/backends/test_backend.py",
    "tests/live/cycle/test_controller.py",
    "tests/live/install/test_installed_cluster.py",
    "tests/live/plugin/test_build.py",
    "tests/live/plugin/test_slurmctld.py",
    "tests/live/whole/test_accounting_and_rest.py",
    "tests/live/whole/test_kinds_of_jobs.py",
    "tests/live/whole/test_rest_with_tokens.py",
)
"""What speaks with Slurm most, two minutes of it."""
EVERYTHING = ("tests/live", "--ignore=tests/live/systemd")
SUITES = {"quick": QUICK, "everything": EVERYTHING}
_LAST = re.compile(r"^\d+ (?:passed|failed|skipped|error).*", re.MULTILINE)


@dataclass(frozen=True)
class Outcome:
    """What a release's tests came to; `code` is pytest's, 3 where none was run."""

    name: str
    said: str
    code: int

    @property
    def failed(self) -> bool:
        return self.code not in (0, 3)


def check(tests: Sequence[str], python: str) -> int:
    """All releases at the same time; 1 where a test failed. What cannot be run is said, too."""
    with ThreadPoolExecutor(len(RELEASES)) as pool:
        outcomes = list(pool.map(lambda each: _tried(each, tests, python), RELEASES.values()))
    for outcome in outcomes:
        print(f"Slurm of {outcome.name}: {outcome.said}")
    return int(any(outcome.failed for outcome in outcomes))


def _tried(release: Release, tests: Sequence[str], python: str) -> Outcome:
    try:
        root = build(release)
    except (NoMirror, RootProblem, subprocess.SubprocessError) as problem:
        return Outcome(release.name, f"NOT RUN: {problem}", 3)
    words = [python, "-m", "pytest", "-p", "no:cacheprovider", "-rs", *tests]
    with (
        locked(release, fcntl.LOCK_SH) as lock,
        tempfile.TemporaryFile("w+", encoding="utf-8") as log,
    ):
        code = run_with(root, words, lock, log)
        log.seek(0)
        text = log.read()
    if code:
        sys.stdout.write(f"Slurm {root.version} of {release.name}:\n{text}\n")
    summary = _LAST.findall(text)
    return Outcome(release.name, f"{root.version}, {summary[-1] if summary else code}", code)


def default_python() -> str:
    own = CHECKOUT / ".venv" / "bin" / "python"
    return str(own if own.exists() else Path(sys.executable))
