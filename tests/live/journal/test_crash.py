"""Kill -9 at any moment loses no intent and leaves a sound file."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_every_change_that_was_sent_is_in_the_journal_of_a_daemon_killed_thirty_times(
    tmp_path: Path,
) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "tests.live.journal.crashing", str(tmp_path), "30", "7"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert int(ran.stdout.split()[0]) > 0
