"""A child process that runs cases by number: `python -m tests.fuzz.worker SEED FIRST STEP LAST`.

It says `begin N` before and `good`, `refused` or `failed` with a traceback as JSON after each, so
that whoever watches knows which case it died or hung in.
"""

from __future__ import annotations

import json
import logging
import os
import resource
import shutil
import signal
import sys
import tempfile
import traceback
import warnings
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from random import Random

from dovetail import api
from dovetail.domain.errors import DovetailError
from dovetail.policies.ordering import ORDERINGS
from dovetail.policies.ordering.function import SlowOrdering
from dovetail.prediction import predict
from dovetail.traces.synthetic import WORKLOADS, synthesize
from tests.fuzz import files, live, words
from tests.fuzz.target import BACKFILLS, Target

TARGETS: tuple[Target, ...] = (*files.TARGETS, *live.TARGETS, *words.TARGETS)
SECONDS = 20.0
"""Of processor time: a case takes milliseconds; what takes longer than this hangs, however busy
the machine is."""

MEMORY = 12 << 30
"""Bytes of address space: input that makes us ask for more is a failure, not a frozen machine."""


def run_case(seed: int, number: int) -> tuple[str, str]:
    """One case: its outcome, and what went wrong."""
    target = TARGETS[number % len(TARGETS)]
    folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
    try:
        with warnings.catch_warnings(), redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", SlowOrdering)  # a notice, as promised, no fault
            target.run(Random(f"{seed}:{number}"), folder)
    except DovetailError:
        return "refused", ""
    except BaseException:  # whatever comes out is what is looked for, Polars' panics too
        return "failed", traceback.format_exc()
    finally:
        os.chdir("/")
        shutil.rmtree(folder, ignore_errors=True)
    return "good", ""


def warm_up() -> None:
    """Compile what replays need, so that no case has to wait for it."""
    predict(synthesize(WORKLOADS["helios"], jobs=1000, seed=0).jobs)  # enough for trees
    trace = synthesize(WORKLOADS["helios"], jobs=3, seed=0)
    for order in (*ORDERINGS, "dovetail"):
        for backfill in BACKFILLS:
            api.simulate(trace, "1x8", order, backfill=backfill, estimates="predicted")


def main() -> None:
    seed, first, step, last = map(int, sys.argv[1:])
    logging.disable()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    warm_up()
    for number in range(first, last, step):
        print(json.dumps(["begin", number, ""]), flush=True)
        signal.setitimer(signal.ITIMER_PROF, SECONDS)  # SIGPROF ends the process
        outcome, problem = run_case(seed, number)
        print(json.dumps([outcome, number, problem]), flush=True)


if __name__ == "__main__":
    main()
