"""Clusters from short specifications and TOML files."""

from __future__ import annotations

import pytest

from dovetail.domain.cluster import Cluster
from dovetail.domain.cluster_toml import cluster_from_toml, load_cluster
from dovetail.domain.errors import ClusterError

FULL = """
name = "two racks"

[[nodes]]
name = "v100-[01-04]"
gpus = 8
type = "V100"
cpus = 96
memory_gb = 512
nodes_per_switch = 2

[[nodes]]
name = "p100"
count = 2
gpus = 4
type = "p100"
switch = "old rack"

[partitions.research]
nodes = ["v100-[01-02]", "p100-0"]
priority = 10

[partitions.teaching]
share = 0.5

[speed]
V100 = 1.0
p100 = 0.5

[qos]
high = 2
"""


def test_a_short_specification_names_nodes_by_type() -> None:
    cluster = Cluster.parse("2x8:v100, 1x4:P100,1x8:v100")
    assert [node.name for node in cluster.nodes] == ["v100-0", "v100-1", "p100-0", "v100-2"]
    assert cluster.total_gpus == 28
    assert cluster.gpu_types == ("v100", "p100")


@pytest.mark.parametrize("spec", ["", "8", "x8", "2x8:", "2x0", "2x65", "0x8", "2x8:v100;1x4"])
def test_a_specification_that_cannot_be_read_says_how_to_write_one(spec: str) -> None:
    with pytest.raises(ClusterError):
        Cluster.parse(spec)


def test_toml_gives_switches_partitions_shares_speeds_and_qos() -> None:
    cluster = cluster_from_toml(FULL)
    assert [node.name for node in cluster.nodes][:2] == ["v100-01", "v100-02"]
    assert [node.switch for node in cluster.nodes] == [
        "switch-0.0", "switch-0.0", "switch-0.1", "switch-0.1", "old rack", "old rack",
    ]  # fmt: skip
    research, teaching = cluster.partitions
    assert research.nodes == {0, 1, 4}
    assert teaching.nodes == {0, 1, 2}
    assert cluster.speed_of("p100") == 0.5
    assert cluster.partition_factor("teaching") == 0.1
    assert cluster.qos_factor("high") == 1.0
    assert cluster.qos_factor("unheard of") == 0.0


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("nodes = 3", "at least one"),
        ("[[nodes]]\ntype = 'a'", "needs gpus"),
        ("[[nodes]]\ngpus = 8\ncolour = 'red'", "unknown key 'colour'"),
        ("[[nodes]]\ngpus = 8\n[partitions.a]\nshare = 1.5", "add up to 1.5"),
        ("[[nodes]]\ngpus = 8\n[partitions.a]\nnodes = ['x']", "no node is called 'x'"),
        ("[[nodes]]\ngpus = 8\n[partitions.a]\npriority = 1", "either nodes or share"),
        ("[[nodes]]\ngpus = 8\n[speed]\nh100 = 2", "no such type"),
        ("[[nodes]]\ngpus = 8\nname = 'a'\n[[nodes]]\ngpus = 8\nname = 'a'", "named twice"),
        ("nodes = [", "not valid TOML"),
    ],
)
def test_a_bad_description_is_named(text: str, problem: str) -> None:
    with pytest.raises(ClusterError, match=problem):
        cluster_from_toml(text)


def test_a_missing_file_is_a_clear_error() -> None:
    with pytest.raises(ClusterError, match="No such file"):
        load_cluster("nowhere.toml")


def test_the_digest_changes_with_everything_that_can_change_a_schedule() -> None:
    changed = [FULL.replace("96", "95"), FULL.replace("old rack", "new rack"),
               FULL.replace("0.5", "0.4"), FULL.replace("high = 2", "high = 3")]  # fmt: skip
    digests = {cluster_from_toml(text).digest() for text in [FULL, *changed]}
    assert len(digests) == 5
