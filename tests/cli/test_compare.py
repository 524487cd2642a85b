"""`dovetail compare`: one table, figures and a report; Ctrl-C keeps what is finished."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dovetail.evaluation.parallel import Outcome, Task, Work
from tests.cli.conftest import CLUSTER, Command


def test_table_figures_and_report(dovetail: Command, small: Path, tmp_path: Path) -> None:
    figures, report = tmp_path / "c.json", tmp_path / "r.html"
    said = dovetail(
        *("compare", small, "--cluster", CLUSTER, "--policies", "fcfs,saf+none,sjf@fgd"),
        *("--sequences", 2, "--length", 50, "--json", figures, "--report", report),
    )
    assert said.code == 0, said.err
    found = json.loads(figures.read_text())
    assert [row["policy"]["order"] for row in found["rows"]] == ["fcfs", "saf", "sjf"]
    assert all(row["label"] in said.out for row in found["rows"])
    assert "*" in said.out
    assert "2 random windows of 50 jobs" in said.out
    assert report.read_text().startswith("<!DOCTYPE html>")
    assert f"report:  {report}" in said.out


def test_backfill_and_placement_stand_in_where_a_policy_names_none(
    dovetail: Command, small: Path, tmp_path: Path
) -> None:
    said = dovetail(
        *("compare", small, "--cluster", CLUSTER, "--policies", "fcfs,saf+none"),
        *("--backfill", "conservative", "--placement", "fgd", "--json", tmp_path / "c.json"),
    )
    assert said.code == 0, said.err
    rows = json.loads((tmp_path / "c.json").read_text())["rows"]
    assert [row["policy"]["backfill"] for row in rows] == ["conservative", "none"]
    assert {row["policy"]["placement"] for row in rows} == {"fgd"}


def test_the_default_policies_are_known(dovetail: Command, small: Path) -> None:
    said = dovetail("compare", small, "--cluster", CLUSTER)
    assert said.code == 0, said.err
    assert "slurm-multifactor+easy" in said.out


@pytest.mark.parametrize("width", [60, 80, 120])
def test_no_number_is_cut_on_a_narrow_terminal(
    dovetail: Command, small: Path, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    said = dovetail("compare", small, "--cluster", CLUSTER, "--policies", "fcfs,slurm-multifactor")
    assert "…" not in said.out
    assert max(map(len, said.out.splitlines())) <= width
    assert ("No room here for" in said.out) == (width < 120)


def test_ctrl_c_keeps_what_is_finished(
    dovetail: Command, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    perform = Work.perform

    def until_the_second_window(work: Work, task: Task, progress: Any = None) -> Outcome:
        if task.window > 0:
            raise KeyboardInterrupt
        return perform(work, task, progress)

    monkeypatch.setattr(Work, "perform", until_the_second_window)
    out = tmp_path / "c.json"
    said = dovetail(
        *("compare", small, "--cluster", CLUSTER, "--policies", "fcfs,saf", "--json", out),
        *("--sequences", 3, "--length", 30, "--workers", 1),
    )
    assert said.code == 130
    assert "interrupted: the table holds what was finished" in said.err
    found = json.loads(out.read_text())
    assert not found["complete"]
    assert [len(row["per_window"]["wait_mean"]) for row in found["rows"]] == [1, 1]


def test_ctrl_c_before_the_first_run_says_so(
    dovetail: Command, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def at_once(*parts: Any) -> Outcome:
        raise KeyboardInterrupt

    monkeypatch.setattr(Work, "perform", at_once)
    said = dovetail("compare", small, "--cluster", CLUSTER, "--workers", 1)
    assert said.code == 130
    assert "before the first run was finished" in said.err


def test_wishes_for_nodes_and_reservations_are_counted(dovetail: Command, tmp_path: Path) -> None:
    head = "JobID|Submit|Start|End|State|AllocTRES|Reservation|SubmitLine"
    rows = [
        "1|1000|1010|1070|COMPLETED|gres/gpu=1||sbatch --nodelist=v100-1 a.sh",
        "2|1001|1010|1070|COMPLETED|gres/gpu=1||sbatch -w other7 a.sh",
        "3|1002|1010|1070|COMPLETED|gres/gpu=1||sbatch -x v100-0 a.sh",
        "4|1003|1010|1070|COMPLETED|gres/gpu=1|course|sbatch a.sh",
    ]
    history = tmp_path / "sacct.txt"
    history.write_text("\n".join((head, *rows)) + "\n")
    said = dovetail("compare", history, "--cluster", CLUSTER, "--policies", "fcfs")
    assert said.code == 0, said.err
    for line in (
        "lists of nodes: 2 jobs asked for nodes by name",
        "lists of nodes: 1 job ruled nodes out by name",
        "lists of nodes: 1 job on any nodes: those asked for by name cannot hold them",
        "reservations: 1 job asked for one",
        "reservations: 1 job replayed without: the cluster has none of that name",
    ):
        assert line in said.out


def test_what_was_recorded_and_slurm_as_configured_are_told_apart_in_a_line_of_their_own(
    dovetail: Command, tmp_path: Path
) -> None:
    conf, history = tmp_path / "slurm.conf", tmp_path / "sacct.txt"
    conf.write_text(
        "SchedulerType=sched/backfill\nPriorityType=priority/multifactor\nPriorityWeightAge=10\n"
        "NodeName=gpu1 CPUs=8 RealMemory=1000 Gres=gpu:2\nPartitionName=all Nodes=ALL\n"
    )
    head = "JobID|Submit|Start|End|State|ReqTRES"
    rows = [f"{n}|{1000 + n}|{1010 + n}|{1070 + n}|COMPLETED|cpu=1,gres/gpu=1" for n in range(3)]
    history.write_text("\n".join((head, *rows)) + "\n")
    cluster = tmp_path / "cluster.toml"
    assert dovetail("cluster", "import", conf, "--out", cluster).code == 0
    said = dovetail("compare", history, "--cluster", cluster, "--policies", "fcfs")
    assert said.code == 0, said.err
    assert "\\n" not in said.out
    lines = said.out.splitlines()
    told = next(number for number, line in enumerate(lines) if "recorded" in line and ":" in line)
    assert any(line.startswith("sacct (3 jobs)") for line in lines[told:])


@pytest.mark.parametrize("command", ["compare", "simulate"])
def test_features_that_an_export_does_not_tell_are_noted(
    dovetail: Command, small: Path, tmp_path: Path, command: str
) -> None:
    cluster = tmp_path / "cluster.toml"
    told = 'name = "v100-[0-7]"\ncount = 8\ngpus = 8\ntype = "v100"\nfeatures = ["h100"]'
    cluster.write_text(f"[[nodes]]\n{told}\n")
    said = dovetail(command, small, "--cluster", cluster)
    assert said.code == 0, said.err
    assert "features not in this export?" in said.out
