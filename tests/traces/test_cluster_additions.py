"""Partitions, QOS and accounts of a real site: from Slurm's own text to limits."""

from __future__ import annotations

from pathlib import Path

import pytest

from dovetail.domain.access import Access
from dovetail.domain.associations import AS_PARENT, Association
from dovetail.domain.cluster import Cluster
from dovetail.domain.cluster_toml import cluster_from_toml
from dovetail.domain.errors import ClusterError
from dovetail.domain.limits import Each, Limit
from dovetail.traces.clusters import read_cluster
from dovetail.traces.clusters.toml import cluster_to_toml
from tests.traces.samples import write

CONF = """\
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=60,bf_max_job_user=20,bf_continue
PriorityType=priority/multifactor
PriorityWeightAge=1000
PriorityWeightFairshare=100000
PriorityDecayHalfLife=14-0
NodeName=gpu[1-2] CPUs=64 RealMemory=512000 Gres=gpu:a100:8
NodeName=cpu[1-4] CPUs=128 RealMemory=256000
PartitionName=DEFAULT MaxTime=2-00:00:00 DefaultTime=60
PartitionName=gpu Nodes=gpu[1-2] PriorityTier=10 PriorityJobFactor=5 QOS=parts \\
  TRESBillingWeights=CPU=1.0,Mem=0.25G,GRES/gpu=2.5,license/x=9
PartitionName=all Nodes=ALL MaxTime=UNLIMITED MaxNodes=3 OverSubscribe=EXCLUSIVE
"""
PARTITIONS = """\
PartitionName=late
   AllowGroups=ALL AllowAccounts=ALL AllowQos=ALL
   AllocNodes=ALL Default=NO QoS=N/A
   DefaultTime=NONE DisableRootJobs=NO ExclusiveUser=NO GraceTime=0 Hidden=NO
   MaxNodes=UNLIMITED MaxTime=08:00:00 MinNodes=0 LLN=NO MaxCPUsPerNode=UNLIMITED
   Nodes=cpu[1-4]
   PriorityJobFactor=1 PriorityTier=2 RootOnly=NO ReqResv=NO OverSubscribe=NO
   State=UP TotalCPUs=512 TotalNodes=4 SelectTypeParameters=NONE
"""
QOS = """\
Name|Priority|GraceTime|Flags|GrpTRES|GrpJobs|GrpSubmit|MaxTRES|MaxWall|MaxTRESPU|MaxJobsPU|MaxSubmitPU|MaxTRESPA
normal|0|00:00:00|||||||||
long|10|00:00:00||cpu=512,mem=1T,gres/gpu=8,gres/gpu:a100=8|||gres/gpu=4|7-00:00:00|gres/gpu=2|4|50|node=2
parts|0|00:00:00|||12||||||||
"""
ASSOC = """\
Cluster|Account|User|Partition|Share|GrpJobs|GrpTRES|GrpSubmit|MaxJobs|MaxTRES|MaxSubmit|MaxWall|QOS
hpc|root|||1||||||||normal
hpc| science|||10||cpu=100||||||normal
hpc|  physics|||5||||||||normal
hpc|  physics|ann||1||||2|cpu=32|10|1-00:00:00|normal
hpc|  physics|bob||parent||||||||normal
"""


def site(folder: Path) -> Cluster:
    conf = write(folder / "slurm.conf", CONF)
    files = {"partitions.txt": PARTITIONS, "qos.txt": QOS, "assoc.txt": ASSOC}
    return read_cluster(
        conf, more=[write(folder / name, text) for name, text in files.items()]
    ).cluster


def test_slurm_conf_tells_tiers_whole_nodes_times_and_settings(tmp_path: Path) -> None:
    cluster = read_cluster(write(tmp_path / "slurm.conf", CONF)).cluster
    gpu, every = cluster.partitions
    assert (gpu.tier, gpu.priority, gpu.exclusive) == (10, 5.0, False)
    assert (every.tier, every.priority, every.exclusive) == (1, 1.0, True)
    assert cluster.limits == (
        Limit(partitions=("gpu",), each=Each.JOB, minutes=2880),
        Limit(partitions=("all",), each=Each.JOB, nodes=3),
    )
    assert cluster.slurm["PriorityWeightFairshare"] == "100000"
    assert cluster.slurm["SchedulerParameters"].startswith("bf_interval=60")


def test_other_files_of_the_site_add_partitions_qos_and_limits(tmp_path: Path) -> None:
    cluster = site(tmp_path)
    assert [part.name for part in cluster.partitions] == ["gpu", "all", "late"]
    assert cluster.qos == {"normal": 0.0, "long": 10.0, "parts": 0.0}
    for expected in (
        Limit(partitions=("late",), each=Each.JOB, minutes=480),
        Limit(qos=("long",), cpus=512, memory_gb=1024, gpus=8),
        Limit(qos=("long",), each=Each.JOB, gpus=4, minutes=7 * 1440),
        Limit(qos=("long",), each=Each.USER, gpus=2, jobs=4, submitted=50),
        Limit(qos=("long",), each=Each.ACCOUNT, nodes=2),
        Limit(accounts=("science", "physics"), cpus=100),
        Limit(users=("ann",), accounts=("physics",), each=Each.USER, jobs=2, submitted=10),
        Limit(users=("ann",), accounts=("physics",), each=Each.JOB, cpus=32, minutes=1440),
        Limit(partitions=("gpu",), jobs=12),  # of the partition's own QOS
    ):
        assert expected in cluster.limits, expected


def test_associations_are_a_tree_with_shares(tmp_path: Path) -> None:
    assert site(tmp_path).associations == (
        Association("science", shares=10),
        Association("physics", parent="science", shares=5),
        Association("physics", "ann", shares=1),
        Association("physics", "bob", shares=AS_PARENT),
    )


def test_parents_may_be_told_in_a_column_and_accounts_without_a_line_are_below_root(
    tmp_path: Path,
) -> None:
    conf = write(tmp_path / "slurm.conf", CONF)
    lines = ["Account|User|Par Name|Share|MaxJobs", "science||root|2|", "physics||science|3|",
             "physics|ann||4|", "chess|dan||1|"]  # fmt: skip
    found = read_cluster(conf, more=[write(tmp_path / "assoc.txt", "\n".join(lines) + "\n")])
    assert found.cluster.associations == (
        Association("chess"),
        Association("science", shares=2),
        Association("physics", parent="science", shares=3),
        Association("physics", "ann", shares=4),
        Association("chess", "dan"),
    )


def test_what_fair_share_leaves_out_is_said(tmp_path: Path) -> None:
    conf = write(tmp_path / "slurm.conf", f"PriorityFlags=NO_FAIR_TREE,MAX_TRES\n{CONF}")
    qos = write(tmp_path / "qos.txt", "Name|Priority|UsageFactor|GrpTRES\nlow|0|0.500000|\n")
    notes = read_cluster(conf, more=[qos]).notes
    assert "PriorityFlags=NO_FAIR_TREE: accounts with shares go by Fair Tree here" in notes
    assert "QOS low: its UsageFactor is not replayed, use counts once" in notes


def test_partitions_tell_what_they_bill(tmp_path: Path) -> None:
    found = read_cluster(write(tmp_path / "slurm.conf", CONF))
    gpu, every = found.cluster.partitions
    assert dict(gpu.billing) == {"cpu": 1.0, "memory_gb": 0.25, "gpu": 2.5}
    assert every.billing == ()
    assert "partition gpu: billing of license/x is not replayed" in found.notes


def test_limits_that_are_not_replayed_are_named(tmp_path: Path) -> None:
    conf, qos = write(tmp_path / "slurm.conf", CONF), write(tmp_path / "qos.txt", QOS)
    found = read_cluster(conf, more=[qos])
    assert "QOS long: limit of gres/gpu:a100 is not replayed" in found.notes


def test_all_of_it_survives_as_toml(tmp_path: Path) -> None:
    cluster = site(tmp_path)
    again = cluster_from_toml(cluster_to_toml(cluster))
    assert again == cluster
    assert again.digest() == cluster.digest()


EVERY_QOS = {  # what `sacctmgr -P show qos` has in 24.11
    "Priority": "5", "GraceTime": "00:02:00", "Preempt": "normal", "PreemptExemptTime": "00:10:00",
    "PreemptMode": "requeue", "Flags": "OverPartQOS", "UsageThres": "0.5", "UsageFactor": "2.0",
    "LimitFactor": "2.0", "GrpTRES": "cpu=8", "GrpTRESMins": "cpu=100", "GrpTRESRunMins": "cpu=99",
    "GrpJobs": "3", "GrpSubmit": "4", "GrpWall": "10:00:00", "MaxTRES": "gres/gpu=4",
    "MaxTRESPerNode": "gres/gpu=2", "MaxTRESMins": "cpu=50", "MaxWall": "01:00:00",
    "MaxTRESPU": "cpu=9", "MaxJobsPU": "2", "MaxSubmitPU": "7", "MaxTRESPA": "cpu=7",
    "MaxTRESRunMinsPA": "cpu=6", "MaxTRESRunMinsPU": "cpu=5", "MaxJobsPA": "3",
    "MaxSubmitPA": "4", "MinTRES": "cpu=2",
}  # fmt: skip
EVERY_ASSOCIATION = {
    "Priority": "5", "GrpJobs": "3", "GrpTRES": "cpu=8", "GrpSubmit": "4", "GrpWall": "10:00:00",
    "GrpTRESMins": "cpu=100", "MaxJobs": "2", "MaxTRES": "cpu=4", "MaxTRESPerNode": "cpu=2",
    "MaxSubmit": "5", "MaxWall": "01:00:00", "MaxTRESMins": "cpu=50", "GrpTRESRunMins": "cpu=99",
}  # fmt: skip
EVERY_PARTITION = {
    "AllowGroups": "staff", "AllowAccounts": "physics", "AllowQos": "long", "DenyAccounts": "chess",
    "DenyQos": "low", "DefaultTime": "03:00:00", "ExclusiveUser": "YES", "GraceTime": "60",
    "MaxNodes": "2", "MaxTime": "02:00:00", "MinNodes": "2", "LLN": "YES", "MaxCPUsPerNode": "8",
    "MaxCPUsPerSocket": "4", "MaxMemPerCPU": "1000", "MaxMemPerNode": "64000",
    "PriorityJobFactor": "3", "PriorityTier": "4", "RootOnly": "YES", "ReqResv": "YES",
    "OverSubscribe": "EXCLUSIVE", "OverTimeLimit": "5", "PreemptMode": "REQUEUE", "State": "DOWN",
    "SelectTypeParameters": "CR_CORE", "TRESBillingWeights": "cpu=2.0",
}  # fmt: skip


@pytest.mark.parametrize("column", EVERY_QOS)
def test_every_column_of_a_qos_is_replayed_or_noted(tmp_path: Path, column: str) -> None:
    head, empty = "|".join(("Name", *EVERY_QOS)), "|" * len(EVERY_QOS)
    cells = "|".join(text if name == column else "" for name, text in EVERY_QOS.items())
    refuse_silence(tmp_path, column, f"{head}\nq{empty}\n", f"{head}\nq|{cells}\n")


@pytest.mark.parametrize("column", EVERY_ASSOCIATION)
def test_every_column_of_an_association_is_replayed_or_noted(tmp_path: Path, column: str) -> None:
    head, empty = "|".join(("Account|User|Share", *EVERY_ASSOCIATION)), "|" * len(EVERY_ASSOCIATION)
    cells = "|".join(text if name == column else "" for name, text in EVERY_ASSOCIATION.items())
    plain = f"{head}\nphysics||1{empty}\nphysics|ann|1"
    refuse_silence(tmp_path, column, f"{plain}{empty}\n", f"{plain}|{cells}\n")


@pytest.mark.parametrize("key", EVERY_PARTITION)
def test_every_key_of_a_partition_is_replayed_or_noted(tmp_path: Path, key: str) -> None:
    plain = "PartitionName=new Nodes=ALL"
    told = f"{plain} {key}={EVERY_PARTITION[key]}"
    refuse_silence(tmp_path, key, f"{plain}\n", f"{told}\n")
    conf = CONF.splitlines()
    before = read_cluster(write(tmp_path / "slurm.conf", "\n".join((*conf, plain)) + "\n"))
    after = read_cluster(write(tmp_path / "slurm.conf", "\n".join((*conf, told)) + "\n"))
    assert before.cluster != after.cluster or any(key in note for note in after.notes)


def refuse_silence(folder: Path, name: str, without: str, with_it: str) -> None:
    conf = write(folder / "slurm.conf", CONF)
    before = read_cluster(conf, more=[write(folder / "more.txt", without)])
    after = read_cluster(conf, more=[write(folder / "more.txt", with_it)])
    noted = [note for note in after.notes if name in note]
    assert not any(name in note for note in before.notes)
    assert noted or before.cluster != after.cluster
    assert cluster_from_toml(cluster_to_toml(after.cluster)) == after.cluster


@pytest.mark.parametrize(
    "line",
    ["PreemptType=preempt/qos", "PreemptMode=SUSPEND,GANG", "SelectType=select/linear",
     "EnforcePartLimits=ALL", "TopologyPlugin=topology/tree", "PriorityWeightAssoc=10"],
)  # fmt: skip
def test_settings_that_decide_what_runs_are_replayed_or_noted(tmp_path: Path, line: str) -> None:
    found = read_cluster(write(tmp_path / "slurm.conf", f"{line}\n{CONF}"))
    assert f"{line.split('=')[0]} of slurm.conf: not replayed" in found.notes


def test_preemption_of_a_qos_is_noted_once_for_all(tmp_path: Path) -> None:
    conf = write(tmp_path / "slurm.conf", f"AccountingStorageEnforce=limits,qos\n{CONF}")
    rows = [f"{name}|1|low|00:00:00|cluster||" for name in ("a", "b", "c", "d")]
    head = "Name|Priority|Preempt|GraceTime|PreemptMode|GrpTRES"
    qos = write(tmp_path / "qos.txt", "\n".join((head, *rows)) + "\n")
    assert read_cluster(conf, more=[qos]).notes[-1:] == (
        "Preempt of QOS a, QOS b, QOS c and 1 more: not replayed",
    )


def test_limits_that_slurm_does_not_hold_anybody_to_are_noted(tmp_path: Path) -> None:
    qos = write(tmp_path / "qos.txt", QOS)
    loose = write(tmp_path / "slurm.conf", f"AccountingStorageEnforce=associations\n{CONF}")
    assert any("holds nobody to those" in note for note in read_cluster(loose, more=[qos]).notes)
    strict = write(tmp_path / "slurm.conf", f"AccountingStorageEnforce=safe,qos\n{CONF}")
    notes = read_cluster(strict, more=[qos]).notes
    assert not any("holds nobody to those" in note for note in notes)


def test_rules_of_a_site_come_as_limits_default_times_and_access(tmp_path: Path) -> None:
    lines = (
        "PartitionName=new Nodes=ALL DefaultTime=02:00:00 AllowAccounts=science DenyQos=low",
        "  MaxMemPerNode=65536 MaxCPUsPerNode=32 MinNodes=0",
    )
    qos = (
        "Name|Priority|GrpTRES|GrpTRESRunMins|MaxTRESPerNode|MaxTRESMins|MinTRES\n"
        "long|1||gres/gpu=1000|gres/gpu=2|cpu=600|gres/gpu=1\n"
    )
    more = [
        write(tmp_path / "parts.txt", "\n".join(lines) + "\n"),
        write(tmp_path / "qos.txt", qos),
        write(tmp_path / "assoc.txt", ASSOC),
    ]
    found = read_cluster(write(tmp_path / "slurm.conf", CONF), more=more)
    part = found.cluster.partitions[-1]
    assert part.default_minutes == 120
    assert part.access == Access(accounts=("science", "physics"), not_qos=("low",))
    assert "partition new: MaxCPUsPerNode bounds each job, not all its jobs on a node together" in (
        found.notes
    )
    for expected in (
        Limit(partitions=("new",), each=Each.NODE, cpus=32, memory_gb=64),
        Limit(qos=("long",), gpu_minutes=1000),
        Limit(qos=("long",), each=Each.NODE, gpus=2),
        Limit(qos=("long",), each=Each.JOB, cpu_minutes=600, least_gpus=1),
    ):
        assert expected in found.cluster.limits, expected


def test_a_file_that_adds_nothing_is_an_error(tmp_path: Path) -> None:
    conf, other = write(tmp_path / "slurm.conf", CONF), write(tmp_path / "x.txt", "hello\n")
    with pytest.raises(ClusterError, match=r"x.txt: adds nothing that is known"):
        read_cluster(conf, more=[other])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[[limits]]\neach = "team"', "expected all, user, account, job or node"),
        ("[[limits]]\ngpu = 3", "unknown key 'gpu'"),
        ("[[limits]]\ngpus = -1", "expected 0 or more"),
        ("[[limits]]\nminutes = 60", 'say each = "job"'),
        ('[slurm]\nSchedulerPort = "1"', "unknown key 'SchedulerPort'"),
        ("[[associations]]\nshares = 1", "names no account"),
        ('[[associations]]\naccount = "a"\nshares = -1', "expected 0 or more"),
        ('[[associations]]\naccount = "a"\nuser = "ann"', "has users, but no line of its own"),
        ('[[associations]]\naccount = "a"\nparent = "b"', "below b, which has no line"),
        ('[[associations]]\naccount = "a"\nparent = "a"', "is above itself"),
        ('[[associations]]\naccount = "a"\n[[associations]]\naccount = "a"', "named twice"),
        ("[partitions.x]\nshare = 1\nbilling = { wood = 1 }", "billing of wood"),
    ],
)
def test_wrong_limits_are_refused_in_words(text: str, words: str) -> None:
    with pytest.raises(ClusterError, match=words):
        cluster_from_toml(f"[[nodes]]\ngpus = 8\n{text}\n")
