"""A million rows, and the real traces where they are at hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from dovetail.domain.errors import TraceError
from dovetail.traces.description import describe
from dovetail.traces.reader import read_trace
from dovetail.traces.writer import write_trace
from tests.real_traces import real_trace


def test_a_million_rows_are_imported(tmp_path: Path) -> None:
    rows = np.arange(1_000_000)
    frame = pl.DataFrame(
        {
            "job_id": rows,
            "user": rows % 500,
            "vc": rows % 15,
            "gpu_num": rows % 8 + 1,
            "node_num": np.ones_like(rows),
            "submit_time": rows * 7 + 1_591_700_000,
            "duration": rows % 5000,
            "queue": np.zeros_like(rows),
        }
    )
    frame.write_csv(tmp_path / "cluster_log.csv")
    trace = read_trace(tmp_path / "cluster_log.csv")
    assert len(trace) == 1_000_000
    assert trace.jobs.submit[-1] == 7 * 999_999


@pytest.mark.parametrize(
    ("name", "jobs"),
    [
        ("philly_full", 95_097),
        ("philly_vc", 71_119),
        ("helios_venus", 106_507),
        ("pai2020_sample", 51_089),
        ("alibaba2023_openb_gpuspec33", 8_152),
        ("mit_supercloud_sample", 9_628),
        ("ubhpc_week", 19_579),
        ("pwa_kth_sp2_1996", 28_475),
    ],
)
def test_real_traces_are_read_whole_and_survive_a_round_trip(
    name: str, jobs: int, tmp_path: Path
) -> None:
    trace = read_trace(real_trace(name))
    assert len(trace) == jobs
    write_trace(trace, tmp_path / "t.parquet")
    assert read_trace(tmp_path / "t.parquet").digest() == trace.digest()


@pytest.mark.parametrize(
    ("name", "without"), [("mit_supercloud_sample", 7_260), ("ubhpc_week", 19_506)]
)
def test_jobs_without_gpus_stay_with_their_cpus(name: str, without: int) -> None:
    jobs = read_trace(real_trace(name)).jobs
    assert int((jobs.gpus == 0).sum()) == without
    assert (jobs.cpus[jobs.gpus == 0] > 0).all()


@pytest.mark.parametrize(
    ("name", "jobs", "gpu_time"),
    [("philly_full", 0.87, 0.18), ("helios_venus", 0.51, 0.046), ("pai2020_sample", 0.77, 0.08)],
)
def test_one_gpu_jobs_have_the_shares_that_are_known_of_them(
    name: str, jobs: float, gpu_time: float
) -> None:
    smallest = describe(read_trace(real_trace(name)))["sizes"][0]
    assert smallest["jobs"] == pytest.approx(jobs, abs=0.01)
    assert smallest["gpu_time"] == pytest.approx(gpu_time, abs=0.01)


def test_kth_users_are_known_to_use_two_fifths_of_their_limits() -> None:
    limits = describe(read_trace(real_trace("pwa_kth_sp2_1996")))["limits"]
    assert limits["median_run_over_limit"] == pytest.approx(0.41, abs=0.005)


def test_a_table_of_nodes_is_no_trace() -> None:
    with pytest.raises(TraceError, match="no column job_id"):
        read_trace(real_trace("nodes_pai2020"))
