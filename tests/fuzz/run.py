"""Cases in worker processes that may hang or die: each is told by its number, and run again."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, Queue
from tempfile import TemporaryFile
from threading import Thread
from typing import IO

SECONDS = 120.0
"""A case that waits so long for something hangs; one that computes is ended by its worker."""

START = 600.0
"""For the first case of a worker: imports, and kernels that may have to be compiled."""

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Failure:
    """A case that ended in anything but an answer or an error in words."""

    number: int
    how: str  # "hung", "died" or "failed"
    problem: str

    def where(self) -> str:
        """The last line that is ours, so that failures of one cause stand together."""
        ours = [line.strip() for line in self.problem.splitlines() if "/dovetail/" in line]
        lines = self.problem.strip().splitlines() or [""]
        return f"{self.how}: {ours[-1] if ours else ''} {lines[-1][:150]}"


@dataclass(slots=True)
class Report:
    """What came of all cases."""

    outcomes: Counter[str] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)

    def add(self, outcome: str, number: int, problem: str = "") -> None:
        self.outcomes[outcome] += 1
        if outcome not in ("good", "refused"):
            self.failures.append(Failure(number, outcome, problem))
            print(f"case {number} {outcome}", file=sys.stderr, flush=True)
        if self.outcomes.total() % 1000 == 0:
            print(f"{self.outcomes.total():,} cases so far", file=sys.stderr, flush=True)


def run_cases(seed: int, first: int, cases: int, workers: int) -> Report:
    """Cases `first` to `first + cases`, shared out to workers."""
    report = Report()
    last = first + cases
    with ThreadPoolExecutor(workers) as threads:
        futures = [
            threads.submit(_watch, seed, first + part, workers, last, report)
            for part in range(min(workers, cases))
        ]
        for future in futures:
            future.result()
    report.failures.sort(key=lambda failure: failure.number)
    return report


def _watch(seed: int, number: int, step: int, last: int, report: Report) -> None:
    """Keep a worker going until all its cases have ended in some way."""
    while number < last:
        number = _one_worker(seed, number, step, last, report) + step


def _one_worker(seed: int, first: int, step: int, last: int, report: Report) -> int:
    """The last case that this worker ended, or ended in."""
    words = map(str, (seed, first, step, last))
    number, going = first, False
    with TemporaryFile("w+", errors="replace") as said, _Child(words, said) as child:
        try:
            for line in child.lines():
                outcome, number, problem = json.loads(line)
                going = outcome == "begin"
                if not going:
                    report.add(outcome, number, problem)
        except TimeoutError:
            report.add("hung", number)
            return number
        code = child.process.wait()
        if code == -signal.SIGPROF:
            report.add("hung", number)
        elif going or number + step < last:
            said.seek(0)
            report.add("died", number, f"{said.read()[-2000:]}\nexit code {code}")
    return number


class _Child:
    """A worker and the lines that it prints, with a limit to how long the next one may take."""

    def __init__(self, words: Iterable[str], errors: IO[str]) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.fuzz.worker", *words],
            cwd=ROOT, stdout=subprocess.PIPE, stderr=errors, text=True,
        )  # fmt: skip
        self._queue: Queue[str | None] = Queue()
        self._reader = Thread(target=self._read)
        self._reader.start()

    def __enter__(self) -> _Child:
        return self

    def __exit__(self, *problem: object) -> None:
        self.process.kill()
        self._reader.join()
        self.process.__exit__(None, None, None)

    def lines(self) -> Iterator[str]:
        count = 0
        while True:
            try:
                line = self._queue.get(timeout=START if count < 2 else SECONDS)
            except Empty:
                raise TimeoutError from None
            if line is None:
                return
            count += 1
            yield line

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._queue.put(line)
        self._queue.put(None)
