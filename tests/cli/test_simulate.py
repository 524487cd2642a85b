"""`dovetail simulate`: its JSON, its Parquet, its words."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from dovetail.domain.schedule import Schedule
from dovetail.evaluation.run import Run
from dovetail.traces.reader import read_trace
from dovetail.traces.writer import write_trace
from tests.builders import job, trace_of
from tests.cli.conftest import CLUSTER, Command

KEYS = (
    "jobs",
    "wait_mean",
    "wait_p50",
    "wait_p95",
    "wait_p99",
    "jct_mean",
    "bsld_mean",
    "bsld_p95",
    "gpu_utilization",
    "cpu_utilization",
    "throughput_jobs_per_hour",
    "makespan",
    "fragmentation_mean",
    "backfilled",
    "fairness_jain_users",
    "restarts",
    "unfinished",
    "events",
    "sim_seconds",
    "config",
)


def without_sim_seconds(path: Path) -> list[str]:
    return [line for line in path.read_text().splitlines() if '"sim_seconds"' not in line]


def test_json_has_exactly_the_stable_keys(dovetail: Command, small: Path, tmp_path: Path) -> None:
    out = tmp_path / "s.json"
    said = dovetail("simulate", small, "--cluster", CLUSTER, "--order", "saf", "--json", out)
    assert said.code == 0, said.err
    found = json.loads(out.read_text())
    assert tuple(found) == KEYS
    assert found["jobs"] == 120
    assert found["config"]["order"] == "saf"
    assert found["config"]["trace_digest"] == read_trace(small).digest()
    assert found["config"]["seed"] == 0


def test_the_same_seed_gives_the_same_bytes(dovetail: Command, small: Path, tmp_path: Path) -> None:
    for name, seed in (("a", 7), ("b", 7), ("c", 8)):
        said = dovetail(
            *("simulate", small, "--cluster", CLUSTER, "--order", "sjf", "--seed", seed),
            *("--estimates", "noisy:1", "--json", tmp_path / name),
        )
        assert said.code == 0, said.err
    a, b, c = (without_sim_seconds(tmp_path / name) for name in "abc")
    assert a == b
    assert a != c


def test_two_processes_give_the_same_bytes(process: Command, small: Path, tmp_path: Path) -> None:
    for name in "ab":
        said = process("simulate", small, "--cluster", CLUSTER, "--json", tmp_path / name)
        assert said.code == 0, said.err
    assert without_sim_seconds(tmp_path / "a") == without_sim_seconds(tmp_path / "b")


def test_a_plain_simulation_loads_no_more_than_it_needs() -> None:
    words = ["simulate", "synth:helios", "--cluster", CLUSTER, "--jobs", "5"]
    heavy = "polars", "numba.np.linalg", "matplotlib", "multiprocessing"
    code = (
        "import sys; from dovetail.cli.app import app\n"
        f"try: app({words})\n"
        f"except SystemExit: print('loaded:', [m for m in {heavy} if m in sys.modules])"
    )
    for _ in range(2):  # what is not compiled yet is, and Numba needs all of itself for that
        found = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        if found.stdout.endswith("loaded: []\n"):
            break
    assert found.stdout.endswith("loaded: []\n")


def test_the_schedule_tells_where_every_job_ran(dovetail: Command, tmp_path: Path) -> None:
    trace, out = tmp_path / "t.parquet", tmp_path / "schedule.parquet"
    write_trace(trace_of(job(0, 10, 8), job(1, 5, 12), job(2, 5, 64), job(3, 5, 2)), trace)
    said = dovetail(
        *("simulate", trace, "--cluster", "2x8:v100", "--backfill", "none"),
        *("--estimates", "exact", "--schedule", out),
    )
    assert said.code == 0, said.err
    frame = pl.read_parquet(out)
    assert dict(frame.schema) == {
        "job_id": pl.String,
        "submit": pl.Float64,
        "eligible": pl.Float64,
        "start": pl.Float64,
        "end": pl.Float64,
        "wait": pl.Float64,
        "run": pl.Float64,
        "estimate": pl.Float64,
        "backfilled": pl.Boolean,
        "restarts": pl.Int64,
        "rejected": pl.String,
        "nodes": pl.List(pl.String),
        "gpus": pl.List(pl.List(pl.Int64)),
    }
    assert frame["start"].to_list() == [0.0, 10.0, None, 10.0]
    assert frame["wait"].to_list() == [0.0, 9.0, None, 7.0]
    assert frame["nodes"].to_list() == [["v100-0"], ["v100-0", "v100-1"], [], ["v100-1"]]
    assert frame["gpus"].to_list() == [[[*range(8)]], [[*range(8)], [0, 1, 2, 3]], [], [[4, 5]]]
    assert frame["rejected"].is_not_null().to_list() == [False, False, True, False]
    assert "rejected: 1 job was not started: asks for more" in said.out


def test_a_trace_of_which_nothing_fits_still_gives_valid_json(
    dovetail: Command, tmp_path: Path
) -> None:
    trace, out = tmp_path / "t.parquet", tmp_path / "s.json"
    write_trace(trace_of(job(0, 10, 64)), trace)
    said = dovetail("simulate", trace, "--cluster", "1x8", "--json", out)
    assert said.code == 0, said.err
    found = json.loads(out.read_text())
    assert (found["unfinished"], found["wait_mean"]) == (1, None)


def test_a_drawn_workload_needs_no_file(dovetail: Command) -> None:
    said = dovetail("simulate", "synth:helios", "--jobs", 100, "--cluster", CLUSTER)
    assert said.code == 0, said.err
    assert "helios-synthetic, 100 jobs" in said.out
    assert "offered load of 0.9 on 32 GPUs" in said.err


def test_ctrl_c_says_what_was_done(
    dovetail: Command, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(run: Run, progress: Callable[[float], None], checked: bool) -> Schedule:
        progress(0.25)
        raise KeyboardInterrupt

    monkeypatch.setattr(Run, "replay", interrupted)
    said = dovetail("simulate", small, "--cluster", CLUSTER, "--json", tmp_path / "s.json")
    assert said.code == 130
    assert "interrupted: 30 of 120 jobs had been submitted; nothing was written" in said.err
    assert not (tmp_path / "s.json").exists()


@pytest.mark.parametrize("command", [("simulate", "--order"), ("compare", "--policies")])
def test_what_was_filled_in_for_jobs_without_a_limit_is_said(
    dovetail: Command, tmp_path: Path, command: tuple[str, str]
) -> None:
    trace = tmp_path / "limits.parquet"
    jobs = [job(submit=i, run=60, limit=600.0) for i in range(3)]
    write_trace(trace_of(*jobs, job(submit=4, run=60)), trace)
    what, policy = command
    said = dovetail(what, trace, "--cluster", CLUSTER, policy, "saf", "--estimates", "limit")
    assert said.code == 0, said.err
    assert "note: 1 job has no time limit: the longest limit of the partition is taken" in said.err
