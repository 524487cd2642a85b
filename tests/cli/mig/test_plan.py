"""`dovetail mig plan` as an operator uses it."""

from __future__ import annotations

from pathlib import Path

import pytest

from dovetail.domain.jobs import JobColumns
from dovetail.domain.trace import Trace
from dovetail.traces.writer import write_trace
from tests.cli.conftest import Command

NODES = ("mig", "plan", "--model", "a100-40", "--gpus", 2, "--nodes", "mig-[1-2]")


def test_a_demand_becomes_three_files(dovetail: Command, tmp_path: Path) -> None:
    said = dovetail(*NODES, "--demand", "1g=14,7g=2", "--out", tmp_path / "plan")
    assert said.code == 0
    assert "all of it fits at once, and it may grow ×1.00" in said.out
    written = {path.name: path.read_text() for path in (tmp_path / "plan").iterdir()}
    assert set(written) == {"mig-parted.yaml", "mig-nodes.conf", "mig-gres.conf"}
    assert "NodeName=mig-[1-2] Gres=gpu:7g.40gb:1,gpu:1g.5gb:7\n" in written["mig-nodes.conf"]
    assert written["mig-gres.conf"] == "NodeName=mig-[1-2] AutoDetect=nvml\n"
    assert all(text in said.out for text in written.values())


def test_more_than_there_is_says_which_share_fits(dovetail: Command) -> None:
    said = dovetail(*NODES, "--demand", "7g=8")
    assert "50.0 % of it fits at once" in said.out


def test_a_history_is_a_demand(dovetail: Command, tmp_path: Path) -> None:
    jobs = JobColumns(
        submit=[0, 50, 100], run=[100, 50, 100], gpus=[7, 2, 2], mig=["1g.5gb", None, None]
    ).build()
    write_trace(Trace(jobs, "history"), tmp_path / "history.parquet")
    said = dovetail(*NODES, "--trace", tmp_path / "history.parquet")
    assert said.code == 0
    assert "demand 7.0 × 1g.5gb, 3.0 × 7g.40gb: all of it fits" in said.out


def test_instances_of_cut_nodes_become_device_lines(dovetail: Command, tmp_path: Path) -> None:
    listed = tmp_path / "mig.txt"
    listed.write_text(
        "|   0  MIG 7g.40gb          0        0          0:8     |\n"
        "|   1  MIG 7g.40gb          0        0          0:8     |\n"
        "gpu0/gi0/access 3\ngpu0/gi0/ci0/access 4\ngpu1/gi0/access 138\ngpu1/gi0/ci0/access 139\n"
    )
    options = ("--configurations", "1,1", "--instances", f"mig-[1-2]={listed}", "--devices", "/d")
    said = dovetail(*NODES, *options)
    assert said.code == 0
    assert (
        "NodeName=mig-2 Name=gpu Type=7g.40gb MultipleFiles="
        "/d/nvidia1,/d/nvidia-caps/nvidia-cap138,/d/nvidia-caps/nvidia-cap139\n"
    ) in said.out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "give one of --configurations, --demand, --trace and --search"),
        (("--demand", "1g=1", "--configurations", "1,1"), "give one of"),
        (("--configurations", "1,4g.20gb+4g.20gb"), "too many of a profile"),
        (("--configurations", "1"), "give 2"),
        (("--configurations", "1,1", "--name", "a: b"), "configuration name"),
        (("--configurations", "1,1", "--instances", "mig-1"), "write NODES=FILE"),
        (("--configurations", "1,1", "--out", "/nowhere/at/all"), "--out /nowhere/at/all"),
    ],
)
def test_what_cannot_be_planned_is_refused_in_words(
    dovetail: Command, options: tuple[str, ...], words: str
) -> None:
    said = dovetail(*NODES, *options)
    assert said.code != 0
    assert words in said.err
