"""Clusters from the files that sites and published traces have."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dovetail.domain.cluster import Cluster
from dovetail.domain.errors import ClusterError
from dovetail.traces.clusters import CLUSTER_FORMATS, read_cluster
from dovetail.traces.source import read_head
from tests.traces.samples import write

SCONTROL = """\
NodeName=gpu001 Arch=x86_64 CoresPerSocket=32
   CPUAlloc=16 CPUEfctv=64 CPUTot=64 CPULoad=3.01
   AvailableFeatures=a100,ib
   Gres=gpu:A100:4(S:0-1)
   NodeAddr=gpu001 NodeHostName=gpu001 Version=23.11.4
   RealMemory=524288 AllocMem=131072 FreeMem=300000 Sockets=2 Boards=1
   State=MIXED ThreadsPerCore=1 TmpDisk=0 Weight=1 Owner=N/A MCS_label=N/A
   Partitions=gpu,all
   CfgTRES=cpu=64,mem=512G,billing=64,gres/gpu=4

NodeName=cpu001 Arch=x86_64 CoresPerSocket=32
   CPUAlloc=0 CPUTot=64 Gres=(null)
   RealMemory=262144 Partitions=all
"""

SCONTROL_JSON = json.dumps(
    {
        "nodes": [
            {
                "name": "gpu001",
                "gres": "gpu:a100:4(S:0-1)",
                "cpus": 64,
                "real_memory": 524288,
                "partitions": ["gpu", "all"],
            },
            {"name": "cpu001", "gres": "", "cpus": 64, "real_memory": 1, "partitions": ["all"]},
        ]
    }
)

SLURM_CONF = """\
ClusterName=demo   # a comment
NodeName=DEFAULT CPUs=64 RealMemory=524288
NodeName=gpu[001-002] Gres=gpu:8 \\
    State=UNKNOWN
NodeName=big[1,3]x Gres=gpu:h100:4,shard:16 Sockets=2 CoresPerSocket=48 ThreadsPerCore=2
nodename=cpu[01-10]
PartitionName=DEFAULT MaxTime=INFINITE
PartitionName=gpu Nodes=gpu[001-002],cpu01 PriorityTier=10
PartitionName=all Nodes=ALL Default=YES
PartitionName=cpu Nodes=cpu[01-10]
"""

GRES_CONF = "AutoDetect=off\nNodeName=gpu[001-002] Name=gpu Type=V100 File=/dev/nvidia[0-7]\n"

PHILLY = "machineId, number of GPUs, single GPU mem\nm1, 2, 12GB\nm2, 8, 24GB\nm3, 0, \n"
HELIOS = "date,vcA,vcB,total\n2020-04-01,8,8,16\n2020-09-27,20,8,28\n"
PAI = "aaa,V100,96,512,8\nbbb,CPU,96,512,0\nccc,T4,64,256,2\n"
OPENB = "sn,cpu_milli,memory_mib,gpu,model\nn0,32000,262144,0,\nn1,64000,262144,2,P100\n"

FILES = {
    "scontrol": ("nodes.txt", SCONTROL),
    "scontrol-json": ("nodes.json", SCONTROL_JSON),
    "slurm-conf": ("slurm.conf", SLURM_CONF),
    "philly": ("cluster_machine_list", PHILLY),
    "helios": ("cluster_gpu_number.csv", HELIOS),
    "pai2020": ("pai_machine_spec.csv", PAI),
    "openb": ("openb_node_list_all_node.csv", OPENB),
}


def members(cluster: Cluster) -> dict[str, list[str]]:
    """Node names of each partition."""
    return {p.name: [cluster.nodes[i].name for i in sorted(p.nodes)] for p in cluster.partitions}


@pytest.mark.parametrize("name", CLUSTER_FORMATS)
def test_exactly_one_format_recognises_each_file(name: str, tmp_path: Path) -> None:
    file, text = FILES[name]
    path = write(tmp_path / file, text)
    head = read_head(path)
    assert [n for n, part in CLUSTER_FORMATS.items() if part.sniff(path, head)] == [name]
    assert read_cluster(path).cluster == read_cluster(path, name).cluster


@pytest.mark.parametrize("name", ["scontrol", "scontrol-json"])
def test_scontrol_tells_the_same_as_text_and_as_json(name: str, tmp_path: Path) -> None:
    file, text = FILES[name]
    found = read_cluster(write(tmp_path / file, text))
    node, other = found.cluster.nodes
    assert (node.name, node.gpus, node.gpu_type) == ("gpu001", 4, "a100")
    assert (node.cpus, node.memory_gb) == (64, 512)
    assert (other.name, other.gpus) == ("cpu001", 0)
    assert members(found.cluster)["gpu"] == ["gpu001"]
    assert found.notes == ()


def test_slurm_conf_takes_types_from_gres_conf_beside_it(tmp_path: Path) -> None:
    write(tmp_path / "gres.conf", GRES_CONF)
    found = read_cluster(write(tmp_path / "slurm.conf", SLURM_CONF))
    nodes = found.cluster.nodes
    shapes = [(n.name, n.gpus, n.gpu_type, n.cpus) for n in nodes if n.gpus]
    assert shapes == [
        ("gpu001", 8, "v100", 64),
        ("gpu002", 8, "v100", 64),
        ("big1x", 4, "h100", 64),
        ("big3x", 4, "h100", 64),
    ]
    assert [n.name for n in nodes if not n.gpus] == [f"cpu{number:02}" for number in range(1, 11)]
    assert members(found.cluster)["gpu"] == ["gpu001", "gpu002", "cpu01"]
    assert members(found.cluster)["all"] == [n.name for n in nodes]
    assert [p.tier for p in found.cluster.partitions] == [10, 1, 1]
    assert found.notes == ()


def test_slurm_conf_alone_knows_no_type(tmp_path: Path) -> None:
    cluster = read_cluster(write(tmp_path / "slurm.conf", SLURM_CONF)).cluster
    assert cluster.gpu_types == ("gpu", "h100")


def test_philly_types_are_the_memory_of_a_gpu(tmp_path: Path) -> None:
    found = read_cluster(write(tmp_path / "cluster_machine_list", PHILLY))
    assert [(n.gpus, n.gpu_type) for n in found.cluster.nodes] == [(2, "12gb"), (8, "24gb")]
    assert found.notes[-1] == "1 node has no GPU: left out"


def test_helios_virtual_clusters_are_partitions_of_8_gpu_nodes(tmp_path: Path) -> None:
    found = read_cluster(write(tmp_path / "cluster_gpu_number.csv", HELIOS))
    assert [n.gpus for n in found.cluster.nodes] == [8, 8, 4, 8]
    assert members(found.cluster) == {"vcA": ["vcA-0", "vcA-1", "vcA-2"], "vcB": ["vcB-0"]}
    assert found.notes == ("sizes of virtual clusters as of 2020-09-27",)


@pytest.mark.parametrize("name", ["pai2020", "openb"])
def test_node_tables_leave_out_cpu_machines(name: str, tmp_path: Path) -> None:
    file, text = FILES[name]
    found = read_cluster(write(tmp_path / file, text))
    assert all(node.gpus > 0 for node in found.cluster.nodes)
    assert found.cluster.nodes[-1].memory_gb == 256
    assert found.notes == ("1 node has no GPU: left out",)


def test_a_node_of_several_types_counts_as_its_commonest(tmp_path: Path) -> None:
    text = SCONTROL.replace("gpu:A100:4(S:0-1)", "gpu:v100:1,gpu:A100:2(S:0),shard:a100:8")
    found = read_cluster(write(tmp_path / "nodes.txt", text))
    assert [(n.gpus, n.gpu_type) for n in found.cluster.nodes[:1]] == [(3, "a100")]
    assert "node gpu001 has several GPU types: all 3 taken as a100" in found.notes


def test_what_an_operator_wrote_changes_no_node(tmp_path: Path) -> None:
    forged = "   Reason=Gres=gpu:a100:64 CPUTot=1 Partitions=mine [root@now]\n\nNodeName=cpu001"
    text = SCONTROL.replace("\nNodeName=cpu001", forged)
    found = read_cluster(write(tmp_path / "nodes.txt", text))
    plain = read_cluster(write(tmp_path / "nodes.txt", SCONTROL))
    assert found.cluster == plain.cluster


def test_files_that_slurm_conf_includes_are_named(tmp_path: Path) -> None:
    text = SLURM_CONF + "# include old.conf\nInclude more.conf\n"
    found = read_cluster(write(tmp_path / "slurm.conf", text))
    assert "not followed: include more.conf" in found.notes
    assert "not followed: include old.conf" not in found.notes


@pytest.mark.parametrize(
    ("file", "text", "words"),
    [
        ("slurm.conf", "NodeName=a[x-y] Gres=gpu:1\n", r"cannot read \[x-y\]"),
        ("slurm.conf", "NodeName=a[0-999999999] Gres=gpu:1\n", "more than 100,000 nodes"),
        ("slurm.conf", "NodeName=a,a Gres=gpu:1\n", "node 'a' is named twice"),
        ("slurm.conf", "NodeName=a\n", "no node with GPUs or CPUs"),
        ("nodes.csv", OPENB.replace(",2,P100", ",two,P100"), "line 3: gpu is 'two', expected a"),
        ("nodes.csv", OPENB.replace(",2,P100", ",-2,P100"), "n1 has -2 GPUs, expected 0 or more"),
        ("nodes.csv", "who knows\n", "cannot tell its format"),
        ("nodes.json", '{"nodes": [{"gres": "gpu:1"', "line 1: not valid JSON"),
    ],
)
def test_broken_cluster_files_are_said_in_words(
    file: str, text: str, words: str, tmp_path: Path
) -> None:
    with pytest.raises(ClusterError, match=words):
        read_cluster(write(tmp_path / file, text))


def test_a_missing_cluster_file_is_a_cluster_error(tmp_path: Path) -> None:
    with pytest.raises(ClusterError, match="No such file"):
        read_cluster(tmp_path / "missing")


@pytest.mark.parametrize(
    "hosts",
    ["n[5-1]", "n[1-99999999][2-1]", "n[" + "9" * 5000 + "]", "n" + "[1]" * 5000, "n[1-200000]"],
)
def test_a_host_list_beyond_all_bounds_is_refused(hosts: str, tmp_path: Path) -> None:
    (tmp_path / "slurm.conf").write_text(f"NodeName={hosts} Gres=gpu:4\n")
    with pytest.raises(ClusterError, match="host list"):
        read_cluster(tmp_path / "slurm.conf")


@pytest.mark.parametrize("number", ["9" * 5000, "x", "²"])
def test_numbers_that_are_none_leave_cpus_unknown(number: str, tmp_path: Path) -> None:
    line = f"NodeName=n1 Gres=gpu:4 Boards={number} Sockets=2 CoresPerSocket=8\n"
    (tmp_path / "slurm.conf").write_text(line)
    assert read_cluster(tmp_path / "slurm.conf").cluster.nodes[0].cpus == float("inf")
