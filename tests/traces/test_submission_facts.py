"""What a cluster knows at submission: names, accounts, directories, arrays, restarts."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl

from dovetail.domain.jobs import JobColumns
from dovetail.domain.trace import Trace
from dovetail.traces.anonymity import PERSONAL, anonymise
from dovetail.traces.reader import read_trace
from dovetail.traces.writer import write_trace
from tests.traces import samples

SACCT = """\
JobID|User|Partition|Submit|Start|End|ElapsedRaw|TimelimitRaw|State|AllocTRES|NNodes|Account|\
Restarts|JobName|WorkDir|SubmitLine
100_1|ann|gpu|1000|1010|1070|60|60|COMPLETED|gres/gpu=1|1|lab|0|train|/home/ann/x|sbatch a.sh
100_2|ann|gpu|1001|1011|1071|60|60|COMPLETED|gres/gpu=1|1|lab|2|train|/home/ann/x|sbatch a.sh
102|bob|gpu|1002|1012|1072|60|60|COMPLETED|gres/gpu=1|1|phys|0|bash|/home/bob|srun --pty bash
"""


def rich_trace() -> Trace:
    columns = JobColumns(
        submit=[0, 1, 2], run=[9, 9, 9], gpus=[1, 1, 1], user=["ann", "ann", "bob"],
        name=["train", "train", "eval"], account=["lab", "lab", "phys"],
        work_dir=["/home/ann", None, "/home/bob"], submit_line=["sbatch ann.sh", None, None],
        array=["7", "7", None], restarts=[0, 0, 3],
    )  # fmt: skip
    return Trace(columns.build(), "rich")


def test_sacct_gives_names_accounts_directories_arrays_and_restarts(tmp_path: Path) -> None:
    path = tmp_path / "sacct.txt"
    path.write_text(SACCT)
    jobs = read_trace(path).jobs
    assert jobs.name.names() == ["train", "train", "bash"]
    assert jobs.account.names() == ["lab", "lab", "phys"]
    assert jobs.work_dir.names() == ["/home/ann/x", "/home/ann/x", "/home/bob"]
    assert jobs.submit_line.names() == ["sbatch a.sh", "sbatch a.sh", "srun --pty bash"]
    assert jobs.array.names() == ["100", "100", None]
    assert jobs.restarts.tolist() == [0, 2, 0]


def test_sacct_json_gives_the_same_facts(tmp_path: Path) -> None:
    job = samples.sacct_job(
        7, 1000, name="train", account="lab", working_directory="/home/ann",
        submit_line="sbatch a.sh", restart_cnt=2,
    )  # fmt: skip
    path = tmp_path / "sacct.json"
    path.write_text(json.dumps({"jobs": [job]}))
    jobs = read_trace(path).jobs
    told = [getattr(jobs, name).names() for name in ("name", "account", "work_dir", "submit_line")]
    assert told == [["train"], ["lab"], ["/home/ann"], ["sbatch a.sh"]]
    assert jobs.restarts.tolist() == [2]


def test_swf_gives_executables_as_names_and_groups_as_accounts(tmp_path: Path) -> None:
    path = tmp_path / "log.swf"
    path.write_text("1 0 10 60 4 -1 -1 4 120 -1 1 3 5 17 2 1 -1 -1\n")
    jobs = read_trace(path).jobs
    assert (jobs.name.names(), jobs.account.names()) == (["17"], ["5"])


def test_pai_groups_are_names_where_their_table_lies_beside(tmp_path: Path) -> None:
    (tmp_path / "pai_task_table.csv").write_text(samples.PAI_TASKS)
    (tmp_path / "pai_job_table.csv").write_text(samples.PAI_JOBS)
    (tmp_path / "pai_group_tag_table.csv").write_text("i1,u1,,group-a,bert\ni2,u2,,group-b,\n")
    jobs = read_trace(tmp_path).jobs
    named = dict(zip(jobs.ids.tolist(), jobs.name.names(), strict=True))
    assert (named["j1"], named["j2"]) == ("group-a", "group-b")
    assert all(name is None for job, name in named.items() if job.startswith("j4"))


def test_facts_survive_a_round_trip_through_parquet(tmp_path: Path) -> None:
    trace, path = rich_trace(), tmp_path / "rich.parquet"
    write_trace(trace, path)
    again = read_trace(path)
    assert again.digest() == trace.digest()
    assert again.jobs.array.names() == ["7", "7", None]
    assert again.jobs.restarts.tolist() == [0, 0, 3]


def test_a_file_written_before_these_columns_existed_opens_with_the_same_digest(
    tmp_path: Path,
) -> None:
    plain = Trace(JobColumns(submit=[0, 5], run=[9, 9], gpus=[1, 2]).build(), "old")
    assert plain.digest() == "3de183386509fb14"
    write_trace(plain, tmp_path / "old.parquet")
    assert "job_name" not in pl.read_parquet_schema(tmp_path / "old.parquet")
    assert read_trace(tmp_path / "old.parquet").digest() == plain.digest()


def test_anonymised_names_stay_equal_where_they_were_and_cannot_be_read() -> None:
    trace = rich_trace()
    hidden = anonymise(trace)
    for column in PERSONAL:
        before, after = getattr(trace.jobs, column), getattr(hidden.jobs, column)
        assert np.array_equal(before.codes, after.codes)
        assert not set(before.values) & set(after.values)
    text = " ".join(" ".join(getattr(hidden.jobs, column).values) for column in PERSONAL)
    assert "ann" not in text
    assert hidden.notes[-1] == "anonymised: user, account, name, work_dir, submit_line"
    assert hidden.jobs.restarts.tolist() == trace.jobs.restarts.tolist()


def test_an_anonymised_trace_names_no_nodes() -> None:
    columns = JobColumns(
        submit=[0], run=[9], gpus=[1],
        nodelist=["gpu1"], exclude=["gpu[2-3]"], reservation=["course"],
    )  # fmt: skip
    hidden = anonymise(Trace(columns.build()))
    assert hidden.jobs.nodelist.values == hidden.jobs.exclude.values == ()
    assert hidden.jobs.reservation.values == ()
    assert hidden.notes == ("left out, as they name nodes: nodelist, exclude, reservation",)


def test_two_imports_cannot_be_joined_unless_they_share_a_key() -> None:
    trace = rich_trace()
    assert anonymise(trace).jobs.user.values != anonymise(trace).jobs.user.values
    shared = [anonymise(trace, key=b"site").jobs.user.values for _ in range(2)]
    assert shared[0] == shared[1]


def test_features_and_reservations_come_from_the_record_or_the_command(tmp_path: Path) -> None:
    head, *rows = SACCT.splitlines()
    told = [
        f"{head}|Constraints|Reservation",
        f"{rows[0].replace('sbatch', 'sbatch -C old --reservation=old')}|h100|course",
        f"{rows[1].replace('sbatch', 'sbatch -C h100 --reservation=course')}||",
        f"{rows[2]}||",
    ]
    path = tmp_path / "sacct.txt"
    path.write_text("\n".join(told) + "\n")
    jobs = read_trace(path).jobs
    assert jobs.constraint.names() == ["h100", "h100", None]
    assert jobs.reservation.names() == ["course", "course", None]
    path.write_text(SACCT.replace("sbatch", "sbatch -C h100 --reservation=course"))  # no columns
    assert read_trace(path).jobs.constraint.names() == ["h100", "h100", None]
    assert read_trace(path).jobs.reservation.names() == ["course", "course", None]


def test_features_come_from_json_too(tmp_path: Path) -> None:
    path = tmp_path / "sacct.json"
    path.write_text(json.dumps({"jobs": [samples.sacct_job(7, 1000, constraints="h100")]}))
    assert read_trace(path).jobs.constraint.names() == ["h100"]
