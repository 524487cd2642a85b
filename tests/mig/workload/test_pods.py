"""Pods that share GPUs, as jobs for slices."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dovetail.domain.errors import ConfigError
from dovetail.mig.gpus.cluster import MIG_DAY_CLUSTER
from dovetail.mig.policies import PLACERS
from dovetail.mig.simulator import simulate_mig
from dovetail.mig.workload.pods import mig_pods
from tests.traces.samples import SAMPLES


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return SAMPLES["openb"](tmp_path)


def test_a_pod_keeps_its_time_on_slices_as_large_as_its_share(file: Path) -> None:
    pods = mig_pods(file)
    assert pods.trace.jobs.ids.tolist() == ["pod-0", "pod-1"]
    whole, part = pods.times[:, [1, 2, 3, 4, 7]]
    np.testing.assert_allclose(whole, 290.0 * 7.0 / np.array([1, 2, 3, 4, 7]))
    np.testing.assert_allclose(part, 300.0 * np.array([3.22, 1.61, 3.22 / 3, 1.0, 1.0]))


def test_a_pod_fits_slices_with_its_share_of_memory_only(file: Path) -> None:
    pods = mig_pods(file)
    np.testing.assert_allclose(pods.trace.jobs.memory, [40.0, 18.4])
    schedule = simulate_mig(pods, MIG_DAY_CLUSTER, PLACERS["smallest-first"])
    assert schedule.size.tolist() == [7, 3]


def test_what_was_left_out_or_drawn_is_noted(file: Path) -> None:
    pods = mig_pods(file, seed=4, compress=10.0)
    assert pods.trace.jobs.submit.tolist() == [0.0, 2.0]
    assert "deadlines drawn with seed 4, not recorded" in pods.trace.notes
    with pytest.raises(ConfigError, match="compress is 0"):
        mig_pods(file, compress=0.0)


@pytest.mark.parametrize("time", ["inf", "-inf", "nan"])
def test_a_pod_without_a_real_time_is_left_out(time: str, file: Path) -> None:
    file.write_text(file.read_text().replace("Running,100,400,110", f"Running,{time},400,110"))
    assert mig_pods(file).trace.jobs.ids.tolist() == ["pod-1"]
