"""The other half of the random faults, from another seed."""

from __future__ import annotations

from pathlib import Path

from tests.live.whole.test_chaos import FAULTS, SEED, survive


def test_another_series_of_faults_loses_no_job_and_leaves_no_factor(tmp_path: Path) -> None:
    survive(FAULTS, SEED + 1, tmp_path)
