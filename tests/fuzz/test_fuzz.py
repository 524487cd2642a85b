"""A short run of the fuzzer with a fixed seed; `make fuzz` takes fresh seeds and many more."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from dovetail.domain.errors import ConfigError
from tests.fuzz import run as fuzz
from tests.fuzz import worker
from tests.fuzz.mutations import spoil_bytes
from tests.fuzz.target import Target


def test_spoilt_input_is_answered_in_words() -> None:
    report = fuzz.run_cases(seed=20, first=0, cases=2 * len(worker.TARGETS), workers=1)
    told = "\n".join(f"case {f.number}: {f.where()}\n{f.problem}" for f in report.failures)
    assert not report.failures, f"python -m tests.fuzz --seed 20 --case N\n{told}"
    assert report.outcomes["refused"] > report.outcomes["good"] / 10


def test_the_same_seed_and_number_give_the_same_case() -> None:
    first = [spoil_bytes(b"1,2,3\n" * 50, random.Random(f"1:{number}")) for number in range(50)]
    again = [spoil_bytes(b"1,2,3\n" * 50, random.Random(f"1:{number}")) for number in range(50)]
    assert first == again
    assert len(set(first)) > 40


@pytest.mark.parametrize(
    ("problem", "outcome"),
    [(ConfigError("in words"), "refused"), (ValueError("a bug"), "failed"), (None, "good")],
)
def test_only_our_own_errors_count_as_answers(
    problem: Exception | None, outcome: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def behave(random: random.Random, folder: Path) -> None:
        if problem is not None:
            raise problem

    monkeypatch.setattr(worker, "TARGETS", (Target("made up", behave),))
    assert worker.run_case(0, 0)[0] == outcome


@pytest.mark.parametrize(
    ("code", "outcome"),
    [
        ("import os; os.abort()", "died"),
        ("import time; time.sleep(60)", "hung"),
        ("import signal; signal.setitimer(signal.ITIMER_PROF, 0.1)\n    while True: pass", "hung"),
    ],
)
def test_a_worker_that_dies_or_hangs_is_a_failure_of_its_case(
    code: str, outcome: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "tests" / "fuzz" / "worker.py"
    program.parent.mkdir(parents=True)
    begin = 'import sys\nprint(f\'["begin", {sys.argv[2]}, ""]\', flush=True)\n'
    program.write_text(
        begin + f"if sys.argv[2] == '0':\n    {code}\n" + begin.replace("begin", "good")
    )
    monkeypatch.setattr(fuzz, "ROOT", tmp_path)
    monkeypatch.setattr(fuzz, "START", 8.0)
    report = fuzz.run_cases(seed=0, first=0, cases=2, workers=1)
    assert [(failure.number, failure.how) for failure in report.failures] == [(0, outcome)]
    assert report.outcomes["good"] == 1
