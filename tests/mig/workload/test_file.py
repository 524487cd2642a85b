"""Jobs for sliced GPUs as a file: what is written is read back, and mistakes have a line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dovetail.domain.errors import TraceError
from dovetail.mig.gpus.cluster import MIG_DAY_CLUSTER
from dovetail.mig.policies import PLACERS
from dovetail.mig.simulator import simulate_mig
from dovetail.mig.workload.day import mig_day
from dovetail.mig.workload.file import read_mig_workload, write_mig_workload
from dovetail.mig.workload.pods import mig_pods
from tests.traces.samples import SAMPLES

HEAD = "submit,seconds_1g,seconds_2g,seconds_3g,seconds_4g,seconds_7g"


def written(folder: Path, *lines: str) -> Path:
    path = folder / "jobs.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_a_day_is_read_back_bit_by_bit(tmp_path: Path) -> None:
    day, path = mig_day(seed=3, hours=2.0), tmp_path / "day.csv"
    write_mig_workload(day, path)
    again = read_mig_workload(path)
    np.testing.assert_array_equal(again.times, day.times)
    assert again.trace.digest() == day.trace.digest()
    assert again.trace.name == "day"


def test_pods_with_memory_are_read_back(tmp_path: Path) -> None:
    pods, path = mig_pods(SAMPLES["openb"](tmp_path)), tmp_path / "pods.csv"
    write_mig_workload(pods, path)
    again = read_mig_workload(path)
    np.testing.assert_array_equal(again.trace.jobs.memory, pods.trace.jobs.memory)
    assert again.trace.jobs.ids.tolist() == pods.trace.jobs.ids.tolist()


def test_an_empty_time_means_that_the_job_cannot_run_there(tmp_path: Path) -> None:
    jobs = read_mig_workload(written(tmp_path, HEAD, "0,,,,20,10", "5,60,30,20,15,10"))
    assert np.isinf(jobs.times[0, 1])
    assert np.isinf(jobs.deadline).all()
    schedule = simulate_mig(jobs, MIG_DAY_CLUSTER, PLACERS["smallest-first"])
    assert schedule.size.tolist() == [4, 1]


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (("submit,seconds_1g", "0,1"), "no column seconds_2g"),
        ((HEAD, "0,a,1,1,1,1"), "line 2: seconds_1g is 'a', expected a number"),
        ((HEAD, "0,1,1,1,1,1", "1,inf,1,1,1,1"), "line 3: seconds_1g is 'inf'"),
        ((HEAD, "0,0,1,1,1,1"), "line 2: a time on a slice is not above 0"),
        ((HEAD, "0,1,1,1,1,1", "1,,,,,"), "line 3: no time on any slice"),
        ((HEAD, ",1,1,1,1,1"), "has no valid submit time"),
        ((HEAD, "5,1,1,1,1,1", "0,1,1,1,1,1"), "submit"),
        ((HEAD,), "no jobs"),
        ((HEAD, "0,1,1,1,1,1,9"), "not a table with commas"),
    ],
)
def test_mistakes_are_told_with_their_line(
    tmp_path: Path, lines: tuple[str, ...], words: str
) -> None:
    with pytest.raises(TraceError, match=words):
        read_mig_workload(written(tmp_path, *lines))


def test_what_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "jobs.csv"
    path.write_bytes(b"submit\n\xff\xfe\n")
    with pytest.raises(TraceError, match="not UTF-8"):
        read_mig_workload(path)
