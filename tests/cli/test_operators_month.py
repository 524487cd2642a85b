"""The commands that README shows to operators, on the files of a small made-up site."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.cli.conftest import Command

README = Path(__file__).parents[2] / "README.md"
FILES = {
    "slurm.conf": """\
ClusterName=small
AccountingStorageEnforce=associations,limits,qos
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=30,bf_window=2880
PriorityType=priority/multifactor
PriorityWeightAge=1000
PriorityWeightFairshare=10000
PriorityWeightQOS=2000
PreemptType=preempt/none
NodeName=gpu[1-2] CPUs=32 RealMemory=256000 Gres=gpu:a100:4 Feature=a100,ib
NodeName=cpu1 CPUs=64 RealMemory=256000
PartitionName=gpu Nodes=gpu[1-2] MaxTime=2-00:00:00 DefaultTime=01:00:00 PriorityTier=2
PartitionName=cpu Nodes=cpu1 AllowQos=normal,long
""",
    "qos.txt": """\
Name|Priority|GraceTime|Preempt|PreemptMode|GrpTRES|GrpTRESMins|MaxTRESPU|MaxJobsPU|MaxWall
normal|0|00:00:00||cluster||||10|
long|10|00:00:00||cluster|gres/gpu=4|gres/gpu=90000|gres/gpu=2||7-00:00:00
""",
    "assoc.txt": """\
Cluster|Account|User|Partition|Share|Priority|GrpJobs|GrpTRES|MaxJobs|MaxTRES|MaxWall|QOS|Def QOS
small|root|||1||||||||normal|
small| physics|||3|||cpu=64||||normal,long|
small|  physics|ann||1||||4|||normal,long|normal
small|  physics|bob||1||||||||normal,long|normal
""",
}
FIELDS = (
    "JobID|JobIDRaw|User|Partition|QOS|Submit|Eligible|Start|End|ElapsedRaw|TimelimitRaw|State|"
    "ReqTRES|AllocTRES|NNodes|Priority|Account|Restarts|JobName|WorkDir|SubmitLine|Constraints|"
    "Reservation"
)


def history() -> str:
    """Two users, jobs with and without GPUs, that had to wait for a GPU now and then."""
    rows = [FIELDS]
    for number in range(60):
        submit, gpus = 1_700_000_000 + 60 * number, (0, 1, 2, 4)[number % 4]
        start, run = submit + 5 * (number % 7), 600 + 97 * (number % 11)
        tres = f"cpu=4,mem=16G,node=1,billing=4{f',gres/gpu={gpus}' if gpus else ''}"
        rows.append(
            f"{number}|{number}|{('ann', 'bob')[number % 2]}|{'gpu' if gpus else 'cpu'}|"
            f"{'long' if number % 5 == 0 else 'normal'}|{submit}|{submit}|{start}|{start + run}|"
            f"{run}|60|COMPLETED|{tres}|{tres}|1|100|physics|0|train|/home|sbatch a.sh|"
            f"{'a100' if gpus == 4 else ''}|"
        )
    return "\n".join(rows) + "\n"


def commands() -> list[list[str]]:
    section = README.read_text(encoding="utf-8").partition("## For operators")[2]
    block = re.search(r"```\n(.*?)```", section, re.DOTALL)
    assert block is not None
    lines = block[1].replace("\\\n", " ").splitlines()
    return [shlex.split(line)[1:] for line in lines if line.startswith("dovetail ")]


def test_three_commands_show_what_was_recorded_and_slurm_as_configured(
    dovetail: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in (FILES | {"sacct.txt": history()}).items():
        (tmp_path / name).write_text(text)
    asked = commands()
    assert len(asked) == 3
    said = []
    for words in asked:
        said.append(dovetail(*(word.replace("/etc/slurm/", "") for word in words)))
        assert said[-1].code == 0, said[-1].err
    imported = (tmp_path / "cluster.toml").read_text()
    for part in ("[[limits]]", "[[associations]]", "[slurm]", "[qos]", "default_minutes = 60"):
        assert part in imported
    assert "GrpTRESMins of QOS long: not replayed" in said[1].out + said[1].err
    rows = [line.split()[0] for line in said[2].out.splitlines() if line.strip()]
    assert "recorded" in rows
    assert any(row.startswith("slurm-as-configured") for row in rows)
    assert rows.index("recorded") < min(
        at for at, row in enumerate(rows) if row.startswith("slurm-as-configured")
    )
