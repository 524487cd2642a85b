"""Published traces: what each importer makes of a file as its authors publish it."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from dovetail.domain.trace import Trace
from dovetail.traces.reader import read_trace
from tests.traces.samples import (
    HELIOS,
    PAI_TASKS,
    RLTUNE,
    SAMPLES,
    SWF,
    philly_job,
    write,
)


def sample(name: str, folder: Path) -> Trace:
    return read_trace(SAMPLES[name](folder))


def test_helios_leaves_out_cpu_jobs_and_jobs_that_never_started(tmp_path: Path) -> None:
    trace = sample("helios", tmp_path)
    assert trace.jobs.ids.tolist() == ["11", "12"]
    assert trace.jobs.submit.tolist() == [0, 60]
    assert trace.jobs.recorded_start.tolist() == [10, 60]
    assert trace.jobs.nodes.tolist() == [0, 2]
    assert trace.jobs.partition.names() == ["vc1", "vc2"]
    assert trace.notes == (
        "1 job never started: left out",
        "1 job asks for no GPU: left out",
        "time 0 is 2020-06-09 18:41:01 (the trace's local time; epoch 1591728061 s), "
        "when the first job was submitted",
    )


def test_helios_node_counts_that_do_not_divide_the_gpus_are_ignored(tmp_path: Path) -> None:
    text = HELIOS.replace("vc2,16,128,2", "vc2,16,128,3")
    trace = read_trace(write(tmp_path / "cluster_log.csv", text))
    assert trace.jobs.nodes.tolist() == [0, 0]
    assert trace.notes[0] == (
        "1 job has GPUs that do not divide evenly over its nodes: node count ignored"
    )


def test_acme_times_with_zones_are_comparable(tmp_path: Path) -> None:
    jobs = sample("acme", tmp_path).jobs
    assert jobs.submit.tolist() == [0, 5]
    assert jobs.recorded_start.tolist() == [60, 6]
    assert jobs.memory.tolist() == [1600, 40]
    assert jobs.kind.names() == ["pretrain", "evaluation"]


def test_openb_rounds_gpu_shares_up_and_says_so(tmp_path: Path) -> None:
    trace = sample("openb", tmp_path)
    assert trace.jobs.gpus.tolist() == [1, 1]
    assert trace.jobs.run.tolist() == [290, 300]
    assert trace.jobs.cpus.tolist() == [12, 6]
    assert trace.jobs.memory.tolist() == [16, 12]
    assert trace.jobs.gpu_type.names() == [None, "v100m16|v100m32"]
    assert "1 pod asks for a part of a GPU: rounded up to the whole GPU" in trace.notes
    assert "1 pod was never scheduled: left out" in trace.notes


def test_pai_tasks_are_gangs_submitted_when_their_job_started(tmp_path: Path) -> None:
    trace = sample("pai2020", tmp_path)
    jobs = trace.jobs
    assert jobs.ids.tolist() == ["j1", "j2", "j4/worker", "j4/evaluator"]
    assert jobs.submit.tolist() == [0, 110, 300, 300]
    assert jobs.gpus.tolist() == [4, 1, 6, 1]
    assert jobs.cpus.tolist() == [24, 6, 18, 6]
    assert jobs.user.names() == ["u1", "u2", "u1", "u1"]
    assert jobs.gpu_type.names() == ["v100", "misc", "p100", "t4"]
    assert trace.notes[:4] == (
        "1 task asks for no GPU: left out",
        "1 task never started: left out",
        "1 task has no end: left out",
        "3 tasks ask for a part of a GPU: rounded up to whole GPUs",
    )


def test_pai_can_be_given_as_folder_or_as_task_table(tmp_path: Path) -> None:
    folder = SAMPLES["pai2020"](tmp_path)
    from_file = read_trace(folder / "pai_task_table.csv")
    assert from_file.digest() == read_trace(folder).digest()


def test_pai_without_headers_and_job_table_still_reads(tmp_path: Path) -> None:
    trace = read_trace(write(tmp_path / "pai_task_table.csv", PAI_TASKS))
    assert trace.jobs.submit.tolist() == [0, 100, 300, 305]
    assert "no pai_job_table.csv beside: tasks count as submitted when they started" in trace.notes


def test_swf_takes_processors_as_gpus_and_minus_one_as_unknown(tmp_path: Path) -> None:
    trace = sample("swf", tmp_path)
    jobs = trace.jobs
    assert jobs.ids.tolist() == ["1", "3"]
    assert jobs.gpus.tolist() == [8, 2]
    assert jobs.limit[0] == 120
    assert math.isnan(jobs.limit[1])
    assert jobs.memory.tolist() == [8, 0]
    assert jobs.recorded_start[0] == 10
    assert trace.notes == (
        "SWF knows no GPUs: processors are taken as GPUs",
        "Computer: IBM SP2",
        "MaxProcs: 100",
        "1 job has no run time: left out",
    )


def test_swf_reads_the_same_plain_and_gzipped(tmp_path: Path) -> None:
    plain = read_trace(write(tmp_path / "KTH.swf", SWF))
    assert plain.digest() == sample("swf", tmp_path).digest()


def test_rltune_codes_become_gpu_types_and_partitions(tmp_path: Path) -> None:
    jobs = sample("rltune", tmp_path).jobs
    assert jobs.gpu_type.names() == ["v100-32", "t4"]
    assert jobs.partition.names() == ["3", "0"]
    assert jobs.limit[0] == 7200


def test_rltune_may_have_a_header_line(tmp_path: Path) -> None:
    header = ",".join(f"column{i}" for i in range(19))
    trace = read_trace(write(tmp_path / "philly.csv", f"{header}\n{RLTUNE}"))
    assert trace.digest() == sample("rltune", tmp_path).digest()


def test_philly_spans_attempts_and_takes_the_largest(tmp_path: Path) -> None:
    trace = sample("philly", tmp_path)
    assert trace.jobs.ids.tolist() == ["application_4", "application_2"]
    assert trace.jobs.run.tolist() == [10, 7200]
    assert trace.jobs.gpus.tolist() == [8, 2]
    assert trace.jobs.recorded_start.tolist() == [2, 63]
    assert trace.notes[:3] == (
        "1 job never started: left out",
        "1 job has no end: left out",
        "1 row was submitted before its predecessor: rows sorted by submit time",
    )


@pytest.mark.parametrize(
    ("start", "end", "run"),
    [
        ("2017-11-05 00:30:00", "2017-11-05 03:30:00", 4 * 3600),  # clocks go back
        ("2017-03-12 01:30:00", "2017-03-12 03:30:00", 1 * 3600),  # clocks go forward
    ],
)
def test_philly_run_times_hold_over_clock_changes(
    start: str, end: str, run: int, tmp_path: Path
) -> None:
    log = json.dumps([philly_job("a", start, (start, end, 1))])
    assert read_trace(write(tmp_path / "log", log)).jobs.run.tolist() == [run]


def test_philly_says_when_a_time_occurs_twice(tmp_path: Path) -> None:
    job = philly_job("a", "2017-11-05 00:30:00", ("2017-11-05 01:30:00", "2017-11-05 05:00:00", 1))
    trace = read_trace(write(tmp_path / "log", json.dumps([job])))
    assert trace.notes[0] == (
        "1 time lies in the hour that autumn repeats: taken as the first of the two"
    )


def test_prepared_parquet_fills_what_is_unknown(tmp_path: Path) -> None:
    trace = sample("parquet", tmp_path)
    assert trace.jobs.ids.tolist() == ["7", "9"]
    assert trace.jobs.nodes.tolist() == [0, 2]
    assert trace.jobs.user.names() == ["1", "1"]
    assert trace.jobs.gpu_type.names() == [None, "v100|p100"]
    assert trace.notes == ("1 job asks for no GPU: left out",)
