"""Partitions, QOS and accounts of a real site: from Slurm's own text to limits."""

from __future__ import annotations

from pathlib import Path

import pytest

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


def test_a_file_that_adds_nothing_is_an_error(tmp_path: Path) -> None:
    conf, other = write(tmp_path / "slurm.conf", CONF), write(tmp_path / "x.txt", "hello\n")
    with pytest.raises(ClusterError, match=r"x.txt: adds nothing that is known"):
        read_cluster(conf, more=[other])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[[limits]]\neach = "team"', "expected all, user, account or job"),
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
