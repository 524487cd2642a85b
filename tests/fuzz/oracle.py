"""Tests on generated cases, the simulator against the plain one first, on cases that are new."""

from __future__ import annotations

import secrets
import subprocess
import sys
import time

from tests.fuzz.run import ROOT

TESTS = (
    "tests/simulator/test_against_oracle.py",
    "tests/simulator/test_against_counting.py",
    "tests/simulator/test_slurm_backfill.py",
    "tests/live/cycle/test_assignment.py",
    "tests/live/guardrails/test_invariants.py",
    "tests/simulator/test_reservations.py",
    "tests/simulator/test_where_jobs_may_run.py",
    "tests/simulator/test_eligibility.py",
    "tests/simulator/test_outages.py",
    "tests/simulator/test_fair_tree.py",
    "tests/simulator/test_needs.py",
    "tests/simulator/test_ranked_placement.py",
    "tests/simulator/test_invariants.py",
    "tests/mig/simulator/test_against_oracle.py",
    "tests/live/cycle/test_class_band.py",
    "tests/live/cycle/test_dead_band.py",
    "tests/live/guardrails/test_lines.py",
    "tests/live/journal/test_orders.py",
    "tests/slurm",
    "tests/envs/test_stepping.py",
    "tests/evaluation/test_bounds.py",
)


def against_oracle(minutes: float) -> bool:
    """One after the other, each with a fresh seed, again and again; False: one of them failed."""
    end, done = time.monotonic() + 60.0 * minutes, 0
    while time.monotonic() < end:
        seed, test = secrets.randbelow(1 << 31), TESTS[done % len(TESTS)]
        command = ["-m", "pytest", "-p", "tests.fuzz.fresh_cases", f"--hypothesis-seed={seed}"]
        found = subprocess.run(
            [sys.executable, *command, test, "-x"],
            cwd=ROOT, capture_output=True, text=True, check=False,
        )  # fmt: skip
        done += 1
        if found.returncode:
            print(found.stdout[-5000:], found.stderr[-1000:])
            print(f"  again: python {' '.join(command)} {test}")
            return False
    print(f"fresh cases: {done} runs of {min(done, len(TESTS))} of {len(TESTS)} tests, all good")
    return True
