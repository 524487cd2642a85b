"""Alibaba PAI 2020: task and job tables, whose headers come in files of their own."""

from __future__ import annotations

import os
from pathlib import Path

import polars as pl

from dovetail.traces.cells import Cells, read_csv
from dovetail.traces.source import first_line, read_head, read_text
from dovetail.traces.table import Format, Progress, RawTable, own_clock

_TASK = "pai_task_table.csv"
_JOB = "pai_job_table.csv"
_GROUP = "pai_group_tag_table.csv"
_HEADERS = {
    _TASK: "job_name,task_name,inst_num,status,start_time,end_time,"
    "plan_cpu,plan_mem,plan_gpu,gpu_type",
    _JOB: "job_name,inst_id,user,status,start_time,end_time",
    _GROUP: "inst_id,user,gpu_type_spec,group,workload",
}


def sniff(path: Path, head: bytes) -> bool:
    if os.path.isdir(path):
        return (path / _TASK).is_file()
    return path.name == _TASK or first_line(head) == _HEADERS[_TASK]


def read(path: Path, progress: Progress) -> RawTable:
    path = path / _TASK if os.path.isdir(path) else path
    cells = read_table(path, _HEADERS[_TASK])
    cells.require("job_name", "start_time", "end_time", "plan_gpu")
    progress(0.3, "reading columns")
    instances = cells.numbers("inst_num").fill_null(1.0)
    table = cells.table(
        {
            "job": cells.names("job_name"),
            "recorded_start": cells.times("start_time"),
            "end": cells.times("end_time"),
            "run": pl.col("end") - pl.col("recorded_start"),
            "gpus": (cells.numbers("plan_gpu").fill_null(0.0) / 100.0).ceil() * instances,
            "share": cells.numbers("plan_gpu") % 100.0,
            "cpus": cells.numbers("plan_cpu") / 100.0 * instances,
            "memory": cells.numbers("plan_mem") * instances,
            "gpu_type": cells.names("gpu_type"),
            "kind": cells.names("task_name"),
        },
        {
            "id": "job_name",
            "submit": "start_time",
            "run": "end_time - start_time",
            "gpus": "inst_num x plan_gpu / 100",
            "cpus": "inst_num x plan_cpu / 100",
            "memory": "inst_num x plan_mem",
        },
    )
    _leave_out(table)
    _join_jobs(table, path.with_name(_JOB))
    # Most jobs have one GPU task and keep their name; tasks of the others are gangs of their own.
    several = pl.len().over("job") > 1
    table.frame = table.frame.with_columns(
        id=pl.when(several).then(pl.col("job") + "/" + pl.col("kind")).otherwise(pl.col("job"))
    )
    table.origin, table.always = own_clock, ("sort",)
    return table


def read_table(path: Path, header: str) -> Cells:
    """A PAI table: its header from the .header file, from its first line, or as published."""
    beside = path.with_name(f"{path.stem}.header")
    if first_line(read_head(path)) == header:
        return read_csv(path)
    text = read_text(beside) if beside.is_file() else header
    return read_csv(path, names=[name.strip() for name in text.strip().split(",")])


def _leave_out(table: RawTable) -> None:
    table.leave_out(pl.col("gpus") == 0, "task asks for no GPU", "tasks ask for no GPU")
    start, end = pl.col("recorded_start"), pl.col("end")
    table.leave_out(start.is_null(), "task never started", "tasks never started")
    table.leave_out(end.is_null(), "task has no end", "tasks have no end")
    table.note(
        table.count(pl.col("share") > 0),
        "task asks for a part of a GPU: rounded up to the whole GPU",
        "tasks ask for a part of a GPU: rounded up to whole GPUs",
    )


def _join_jobs(table: RawTable, path: Path) -> None:
    """Submission and user stand in the job table; there is no submit time but the job's start."""
    start = pl.col("recorded_start")
    if not path.is_file():
        table.notes.append(f"no {_JOB} beside: tasks count as submitted when they started")
        table.frame = table.frame.with_columns(submit=start)
        return
    cells = read_table(path, _HEADERS[_JOB])
    jobs = pl.DataFrame(
        {
            "job": cells.names("job_name"),
            "instance": cells.names("inst_id"),
            "user": cells.names("user"),
            "job_start": cells.times("start_time"),
        }
    ).unique("job", keep="first", maintain_order=True)
    jobs = _join_groups(jobs, path.with_name(_GROUP))
    table.notes.append("no submit times in PAI: tasks count as submitted when their job started")
    table.frame = table.frame.join(jobs, on="job", how="left", maintain_order="left").with_columns(
        submit=pl.min_horizontal("job_start", start)
    )


def _join_groups(jobs: pl.DataFrame, path: Path) -> pl.DataFrame:
    """Jobs of one group run the same program on data of the same kind: as good as a name."""
    if not path.is_file():
        return jobs.drop("instance")
    cells = read_table(path, _HEADERS[_GROUP])
    groups = pl.DataFrame({"instance": cells.names("inst_id"), "name": cells.names("group")})
    groups = groups.drop_nulls("instance").unique("instance", keep="first", maintain_order=True)
    return jobs.join(groups, on="instance", how="left", maintain_order="left").drop("instance")


PAI2020 = Format("pai2020", f"Alibaba PAI 2020: {_TASK} or its folder", sniff, read)
