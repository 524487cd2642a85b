"""Twenty random faults: no job is lost, none keeps a factor, and the daemon is back by itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.live.chaos import run_chaos
from tests.live.slurm import SMALL_LAYOUT, Options, why_not

FAULTS, SEED = 20, 1
"""Another seed is another story: `python -m tests.live.chaos --faults 100 --seed N` tells it."""


def test_no_series_of_faults_loses_a_job_or_leaves_a_factor(tmp_path: Path) -> None:
    reason = why_not(Options(nodes=SMALL_LAYOUT))
    if reason is not None:
        pytest.skip(reason)
    outcome = run_chaos(FAULTS, SEED, tmp_path)
    assert outcome.faults.total() == FAULTS
    assert outcome.completed == outcome.submitted
