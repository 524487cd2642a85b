"""`python -m tests.fuzz --cases 30000`: spoilt input for everything, with a fresh seed each time.

A failure is printed with the command that runs it again.
"""

from __future__ import annotations

import argparse
import secrets
import sys
import time

from tests.fuzz.oracle import against_oracle
from tests.fuzz.run import run_cases
from tests.fuzz.worker import TARGETS, run_case


def main() -> int:
    asked = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    asked.add_argument("--cases", type=int, default=3000)
    asked.add_argument("--seed", type=int, default=secrets.randbelow(1 << 31))
    asked.add_argument("--workers", type=int, default=2)
    asked.add_argument("--first", type=int, default=0, help="number of the first case")
    asked.add_argument(
        "--oracle-minutes", type=float, default=0.0, help="then fresh cases for tests"
    )
    asked.add_argument("--case", type=int, help="run this case here, and show its traceback")
    given = asked.parse_args()
    if given.case is not None:
        outcome, problem = run_case(given.seed, given.case)
        print(TARGETS[given.case % len(TARGETS)].name, outcome, problem, sep="\n")
        return int(outcome == "failed")
    begun = time.monotonic()
    print(f"{given.cases:,} cases with seed {given.seed}", flush=True)
    report = run_cases(given.seed, given.first, given.cases, given.workers)
    told: dict[str, list[int]] = {}
    for failure in report.failures:
        told.setdefault(failure.where(), []).append(failure.number)
    for where, numbers in told.items():
        shown = ", ".join(map(str, numbers[:10]))
        names = {TARGETS[number % len(TARGETS)].name for number in numbers}
        print(f"\n{len(numbers)} x {', '.join(sorted(names))}: {where}")
        print(
            f"  again: python -m tests.fuzz --seed {given.seed} --case {numbers[0]}  (of {shown})"
        )
    found = ", ".join(f"{count:,} {name}" for name, count in sorted(report.outcomes.items()))
    print(f"\n{found} in {time.monotonic() - begun:.0f} s")
    agreed = given.oracle_minutes <= 0 or against_oracle(given.oracle_minutes)
    return int(bool(report.failures) or not agreed)


if __name__ == "__main__":
    sys.exit(main())
