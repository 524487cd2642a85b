"""Random faults: no job is lost, none keeps a factor, and the daemon is back by itself.

Sixty in two halves, this one and `test_chaos_again.py`, so that two workers can run them.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.live.chaos import run_chaos
from tests.live.slurm import SMALL_LAYOUT, Options, why_not

FAULTS, SEED = 30, 1
"""Another seed is another story: `python -m tests.live.chaos --faults 60 --seed N` tells it."""


def test_no_series_of_faults_loses_a_job_or_leaves_a_factor(tmp_path: Path) -> None:
    survive(FAULTS, SEED, tmp_path)


def survive(faults: int, seed: int, folder: Path) -> None:
    reason = why_not(Options(nodes=SMALL_LAYOUT))
    if reason is not None:
        pytest.skip(reason)
    outcome = run_chaos(faults, seed, folder)
    assert outcome.faults.total() == faults
    assert outcome.completed == outcome.submitted
