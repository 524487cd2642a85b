"""The simulator against the plain one, on cases that nobody has seen yet."""

from __future__ import annotations

import secrets
import subprocess
import sys
import time

from tests.fuzz.run import ROOT

TESTS = (
    "tests/simulator/test_against_oracle.py",
    "tests/simulator/test_against_counting.py",
    "tests/simulator/test_eligibility.py",
    "tests/simulator/test_invariants.py",
    "tests/simulator/test_outages.py",
    "tests/simulator/test_ranked_placement.py",
    "tests/simulator/test_slurm_backfill.py",
    "tests/mig/simulator/test_against_oracle.py",
    "tests/envs/test_stepping.py",
    "tests/evaluation/test_bounds.py",
)


def against_oracle(minutes: float) -> bool:
    """Run these tests with one fresh seed after the other; False: one of them failed."""
    end, rounds = time.monotonic() + 60.0 * minutes, 0
    while time.monotonic() < end:
        seed = secrets.randbelow(1 << 31)
        command = ["-m", "pytest", "-p", "tests.fuzz.fresh_cases", f"--hypothesis-seed={seed}"]
        found = subprocess.run(
            [sys.executable, *command, *TESTS, "-x"],
            cwd=ROOT, capture_output=True, text=True, check=False,
        )  # fmt: skip
        rounds += 1
        if found.returncode:
            print(found.stdout[-5000:], found.stderr[-1000:])
            print(f"  again: python {' '.join(command)} {' '.join(TESTS)}")
            return False
    print(f"the simulator agrees with its oracle in {rounds} rounds of fresh cases")
    return True
