"""sacct as text and as JSON: steps, arrays, requeues, holds, limits and resources."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from dovetail.domain.trace import Trace
from dovetail.traces.reader import read_trace
from tests.traces.samples import SAMPLES, sacct_job, write


def sacct(folder: Path, *rows: dict[str, Any]) -> Trace:
    """A trace of sacct rows that differ from a plain one only as given."""
    plain = {
        "JobIDRaw": "1",
        "Submit": "1000",
        "Start": "1000",
        "End": "1060",
        "State": "COMPLETED",
        "AllocTRES": "gres/gpu=1",
    }
    full = [plain | {"JobIDRaw": str(number)} | row for number, row in enumerate(rows, 1)]
    names = list(dict.fromkeys(name for row in full for name in row))
    lines = ["|".join(names), *("|".join(str(row.get(n, "")) for n in names) for row in full)]
    return read_trace(write(folder / "sacct.txt", "\n".join(lines) + "\n"))


def test_a_real_looking_export_is_read_as_its_jobs(tmp_path: Path) -> None:
    trace = read_trace(SAMPLES["sacct"](tmp_path))
    jobs = trace.jobs
    assert jobs.ids.tolist() == ["100", "101_4", "104", "105"]
    assert jobs.submit.tolist() == [0, 60, 180, 1320]
    assert jobs.run.tolist() == [3600, 60, 60, 300]
    assert jobs.gpus.tolist() == [2, 8, 0, 1]
    assert jobs.nodes.tolist() == [0, 2, 0, 0]
    assert jobs.cpus.tolist() == [8, 4, 4, 0]
    assert jobs.memory.tolist() == [64, 1, 4, 0]
    assert jobs.partition.names() == ["gpu,long", "gpu", "cpu", "gpu"]
    assert jobs.qos.names() == ["normal", "high", "normal", "normal"]
    assert jobs.priority.tolist() == [4000, 4100, 1, 1]
    assert jobs.limit[[0, 3]].tolist() == [7200, 3600]
    assert math.isnan(jobs.limit[1])
    assert trace.notes[:6] == (
        "1 job step: left out",
        "2 jobs never started: left out",
        "1 job was still running: left out",
        "1 earlier run of a job that ended with its node: left out",
        "1 job asked for several partitions: it may run in any of them",
        "2 jobs were held or waited for others first: they count as submitted once eligible",
    )


def test_jobs_without_gpus_keep_their_cpus_memory_and_nodes(tmp_path: Path) -> None:
    jobs = sacct(
        tmp_path,
        {"AllocTRES": "billing=8,cpu=8,mem=32G,node=2", "NNodes": "2"},
        {"AllocTRES": "cpu=12,gres/gpu=3,mem=96G,node=1", "SubmitLine": "sbatch --mem-per-gpu=32G"},
    ).jobs
    assert jobs.gpus.tolist() == [0, 3]
    assert jobs.cpus.tolist() == [8, 12]
    assert jobs.memory.tolist() == [32, 96]
    assert jobs.nodes.tolist() == [2, 0]


@pytest.mark.parametrize(
    ("line", "exclusive"),
    [
        ("sbatch --exclusive run.sh", True),
        ("srun -n 4 --exclusive", True),
        ("sbatch --exclusive=user run.sh", False),
        ("sbatch run.sh", False),
        ("", False),
    ],
)
def test_an_exclusive_job_asks_what_it_asked_and_not_what_its_node_had(
    line: str, exclusive: bool, tmp_path: Path
) -> None:
    asked, got = "cpu=1,mem=4G,node=1", "cpu=40,gres/gpu=2,mem=180G,node=1"
    jobs = sacct(tmp_path, {"ReqTRES": asked, "AllocTRES": got, "SubmitLine": line}).jobs
    assert jobs.exclusive.tolist() == [exclusive]
    assert jobs.cpus.tolist() == [1 if exclusive else 40]
    assert jobs.gpus.tolist() == [0 if exclusive else 2]


def test_only_a_gpu_type_that_was_asked_for_binds_the_job(tmp_path: Path) -> None:
    got = "gres/gpu=2,gres/gpu:A100=2"
    trace = sacct(
        tmp_path,
        {"ReqTRES": "gres/gpu=2", "AllocTRES": got},
        {"ReqTRES": "gres/gpu:A100=2", "AllocTRES": got},
        {"ReqTRES": "", "AllocTRES": got},
    )
    assert trace.jobs.gpu_type.names() == [None, "a100", "a100"]


@pytest.mark.parametrize(
    ("tres", "gpus", "gpu_type", "mig"),
    [
        ("cpu=1,gres/gpu=3", 3, None, None),
        ("gres/gpu:a100=2,gres/gpu:v100=1", 3, "a100|v100", None),
        ("gres/gpu=2,gres/gpu:H100=2,gres/gpumem=80G", 2, "h100", None),
        ("gres/gpu:1g.5gb=1", 1, None, "1g.5gb"),
        ("gres/gpu:a100_3g.20gb=1", 1, "a100", "3g.20gb"),
    ],
)
def test_gpus_are_read_from_trackable_resources(
    tres: str, gpus: int, gpu_type: str | None, mig: str | None, tmp_path: Path
) -> None:
    jobs = sacct(tmp_path, {"AllocTRES": tres}).jobs
    assert jobs.gpus.tolist() == [gpus]
    assert jobs.gpu_type.names() == [gpu_type]
    assert jobs.mig.names() == [mig]


@pytest.mark.parametrize(
    ("memory", "gb"),
    [("65536M", 64), ("64G", 64), ("0.5T", 512), ("1048576K", 1), ("2048", 2), ("1.50G", 1.5)],
)
def test_memory_is_read_in_every_unit(memory: str, gb: float, tmp_path: Path) -> None:
    assert sacct(tmp_path, {"AllocTRES": f"mem={memory},gres/gpu=1"}).jobs.memory.tolist() == [gb]


@pytest.mark.parametrize(
    ("limit", "seconds"),
    [("1-02:03:04", 93_784), ("02:00:00", 7200), ("30:00", 1800), ("UNLIMITED", math.nan)],
)
def test_time_limits_are_read_in_slurms_notation(
    limit: str, seconds: float, tmp_path: Path
) -> None:
    jobs = sacct(tmp_path, {"Timelimit": limit}).jobs
    assert jobs.limit.tolist() == pytest.approx([seconds], nan_ok=True)


def test_elapsed_is_end_minus_start_where_sacct_was_not_asked_for_it(tmp_path: Path) -> None:
    assert sacct(tmp_path, {"Start": "1000", "End": "1500"}).jobs.run.tolist() == [500]


def test_field_names_and_trailing_separators_are_as_the_operator_typed_them(
    tmp_path: Path,
) -> None:
    text = "jobid|submit|start|end|alloctres|\n7|100|110|170|gres/gpu=4|\n"
    jobs = read_trace(write(tmp_path / "sacct.txt", text)).jobs
    assert (jobs.ids.tolist(), jobs.gpus.tolist(), jobs.run.tolist()) == (["7"], [4], [60])


def test_json_is_read_as_the_text_is(tmp_path: Path) -> None:
    array = {"job_id": 40, "task_id": {"set": True, "infinite": False, "number": 3}}
    tres = sacct_job(1, 0)["tres"]["allocated"]
    records = [
        sacct_job(41, 2000, array=array, tres={"allocated": tres, "requested": tres}),
        sacct_job(42, 1000),
        sacct_job(43, 1000, state={"current": "PENDING"}, time={"submission": 1000, "start": 0}),
    ]
    trace = read_trace(write(tmp_path / "sacct.json", json.dumps({"jobs": records})))
    jobs = trace.jobs
    assert jobs.ids.tolist() == ["42", "40_3"]
    assert jobs.submit.tolist() == [0, 1000]
    assert jobs.gpus.tolist() == [4, 4]
    assert jobs.nodes.tolist() == [2, 2]
    assert jobs.memory.tolist() == [64, 64]
    assert jobs.gpu_type.names() == [None, "h100"]
    assert jobs.limit.tolist() == [3600, 3600]
    assert "1 job never started: left out" in trace.notes


def test_json_of_old_versions_has_plain_numbers(tmp_path: Path) -> None:
    job = sacct_job(9, 1000, priority=5, state={"current": "COMPLETED"})
    job["time"]["limit"] = 60
    jobs = read_trace(write(tmp_path / "sacct.json", json.dumps({"jobs": [job]}))).jobs
    assert (jobs.priority.tolist(), jobs.limit.tolist()) == ([5], [3600])
