"""Cluster descriptions of the wrong type or size are refused at once, in words."""

from __future__ import annotations

from pathlib import Path

import pytest

from dovetail.api import load_cluster
from dovetail.domain.cluster import MAX_NODES, Cluster
from dovetail.domain.cluster_toml import cluster_from_toml
from dovetail.domain.errors import ClusterError
from dovetail.mig.gpus.cluster import MigCluster


def refusal(text: str) -> str:
    with pytest.raises(ClusterError) as problem:
        cluster_from_toml(text, "c.toml")
    return str(problem.value)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('gpus = "eight"', "gpus is 'eight', expected a whole number"),
        ("gpus = 8.7", "gpus is 8.7, expected a whole number"),
        ("gpus = true", "gpus is true, expected a whole number"),
        ("gpus = 1979-05-27", "gpus is 1979-05-27, expected a whole number"),
        ("gpus = 0x" + "f" * 5000, "gpus is a number of more than 30 digits"),
        ("gpus = 8\ncount = 2.9", "count is 2.9, expected a whole number"),
        ("gpus = 8\ncount = 0", "count is 0, expected 1 or more"),
        ("gpus = 8\ncount = 3000000", "count is 3000000, expected at most 100,000"),
        ("gpus = 8\ncpus = '96'", "cpus is '96', expected a number"),
        ("gpus = 8\ncpus = 1e300", "1e+300 CPUs, expected above 0, at most 1,000,000"),
        ("gpus = 8\nmemory_gb = nan", "nan GB of memory, expected above 0"),
        ("gpus = 8\nmemory_gb = [1]", "memory_gb is [1], expected a number"),
        ("gpus = 8\ntype = 5", "type is 5, expected text in quotes"),
        ("gpus = 8\nname = {a = 1}", "name is {'a': 1}, expected text in quotes"),
        ("gpus = 8\nmig = 1", "mig is 1, expected a list of whole numbers"),
        ("gpus = 1\nmig = [1.5]", "mig is [1.5], expected a list of whole numbers"),
        ("gpus = 8\nnodes_per_switch = 0", "nodes_per_switch is 0, expected 1 or more"),
        ("gpus = 8\nname = 'n[0-999999999]'", "names more than 100,000 nodes"),
    ],
)
def test_a_wrong_value_of_a_node_group_is_named(line: str, said: str) -> None:
    text = refusal(f"[[nodes]]\ngpus = 8\n\n[[nodes]]\n{line}\n")
    assert said in text
    assert "number 2" in text or text.startswith("node ")


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("[partitions]\np = 1", "[partitions.p]: expected a table"),
        ("[partitions.p]\nnodes = 'gpu-0'", "nodes is 'gpu-0', expected a list of texts"),
        ("[partitions.p]\nnodes = [0]", "nodes is [0], expected a list of texts"),
        ("[partitions.p]\nshare = true", "share is true, expected a number"),
        ("[partitions.p]\nshare = nan", "shares add up to nan"),
        ("[partitions.p]\nshare = 1\npriority = -1", "priority is -1, expected 0 to 1e+12"),
        ("[speed]\ngpu = 'fast'", "[speed]: gpu is 'fast', expected a number"),
        ("[speed]\ngpu = 1e-300", "speed of gpu: 1e-300, expected 0.001 to 1000"),
        ("[qos]\nhigh = true", "[qos]: high is true, expected a number"),
        ("[qos]\nhigh = inf", "QOS high: inf, expected 0 to 1e+12"),
        ("qos = 3", "maps names to numbers"),
    ],
)
def test_a_wrong_value_elsewhere_is_named(lines: str, said: str) -> None:
    head, nodes = (lines, "") if lines.startswith("qos") else ("", lines)
    assert said in refusal(f"{head}\n[[nodes]]\ngpus = 8\n{nodes}\n")


@pytest.mark.parametrize("text", ["a = " + "[" * 5000, "a = " + "1" * 5000, "nodes = [1]", "\0"])
def test_strange_toml_is_refused(text: str) -> None:
    assert refusal(text).startswith("c.toml: ")


def test_a_file_that_is_not_utf8_is_told_by_its_line(tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_bytes(b"[[nodes]]\ngpus = 8\nname = '\xff'\n")
    with pytest.raises(ClusterError, match=r"c\.toml line 3: not UTF-8"):
        load_cluster(tmp_path / "c.toml")


@pytest.mark.parametrize(
    "spec",
    ["3000000x8", "1x8," * 10 + "99999x8", "9" * 5000 + "x8", "1x" + "9" * 5000, "٣x8", "a\0b"],
)
def test_a_specification_beyond_all_bounds_is_refused(spec: str) -> None:
    with pytest.raises(ClusterError):
        load_cluster(spec)


@pytest.mark.parametrize("name", ["x" * 5000 + ".toml", "a\0b.toml", "/dev/zero"])
def test_a_name_that_no_cluster_file_has_is_refused(name: str, tmp_path: Path) -> None:
    path = Path(name)
    if name.startswith("/dev"):
        path = tmp_path / "endless.toml"
        path.symlink_to(name)
    with pytest.raises(ClusterError):
        load_cluster(path)


def test_the_largest_cluster_is_accepted() -> None:
    assert len(Cluster.parse(f"{MAX_NODES}x8").nodes) == MAX_NODES


@pytest.mark.parametrize(
    "gpus", ["9" * 30 + "xa100-40", "100000xa100-40", "1xa100-40:" + "9" * 5000]
)
def test_sliced_gpus_beyond_all_bounds_are_refused(gpus: str) -> None:
    with pytest.raises(ClusterError, match=r"cannot read|more than 10,000 GPUs|no configuration"):
        MigCluster.parse(gpus)
