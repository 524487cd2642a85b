"""What a plan writes: golden texts, read back by other readers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail.domain.errors import ConfigError, MigRuleError
from dovetail.mig.gpus.table import GPU_MODELS
from dovetail.mig.plan.instances import Instance, read_instances
from dovetail.mig.plan.parted import mig_parted_yaml
from dovetail.mig.plan.plan import MigPlan, NodePlan, deal, parse_cuts, spread
from dovetail.mig.plan.slurm import gres_conf_detected, gres_conf_listed, slurm_conf_lines
from dovetail.traces.clusters import read_cluster

A100 = GPU_MODELS["a100-40"]


def plan_of(text: str, gpus: int, *nodes: str, name: str = "dovetail") -> MigPlan:
    return MigPlan(A100, deal(nodes, gpus, parse_cuts(text, A100)), name)


MIXED = plan_of("1,3,3,19", 2, "mig-1", "mig-2")

YAML = """\
version: v1
mig-configs:
  # for mig-1
  "dovetail-1":
    - devices: [0]
      mig-enabled: true
      mig-devices:
        "7g.40gb": 1
    - devices: [1]
      mig-enabled: true
      mig-devices:
        "4g.20gb": 1
        "2g.10gb": 1
        "1g.10gb": 1
  # for mig-2
  "dovetail-2":
    - devices: [0]
      mig-enabled: true
      mig-devices:
        "4g.20gb": 1
        "2g.10gb": 1
        "1g.10gb": 1
    - devices: [1]
      mig-enabled: true
      mig-devices:
        "1g.5gb": 7
"""

SLURM = """\
# Put Gres= onto the nodes' own NodeName lines: a node may be defined only once.
GresTypes=gpu
NodeName=mig-1 Gres=gpu:7g.40gb:1,gpu:4g.20gb:1,gpu:2g.10gb:1,gpu:1g.10gb:1
NodeName=mig-2 Gres=gpu:4g.20gb:1,gpu:2g.10gb:1,gpu:1g.10gb:1,gpu:1g.5gb:7
"""

LISTED = """\
+-------------------------------------------------------+
| GPU instances:                                        |
| GPU   Name             Profile  Instance   Placement  |
|                          ID       ID       Start:Size |
|=======================================================|
|   0  MIG 3g.20gb          9        1          4:4     |
+-------------------------------------------------------+
|   0  MIG 4g.20gb          5        2          0:4     |
+-------------------------------------------------------+
|   1  MIG 7g.40gb          0        0          0:8     |
+-------------------------------------------------------+
config 1
monitor 2
gpu0/gi1/access 12
gpu0/gi1/ci0/access 13
gpu0/gi1/ci1/access 14
gpu0/gi2/access 21
gpu0/gi2/ci0/access 22
gpu1/gi0/access 138
gpu1/gi0/ci0/access 139
"""

GRES = """\
NodeName=mig-1 Name=gpu Type=7g.40gb MultipleFiles=/dev/nvidia1,/dev/nvidia-caps/nvidia-cap138,/dev/nvidia-caps/nvidia-cap139
NodeName=mig-1 Name=gpu Type=4g.20gb MultipleFiles=/dev/nvidia0,/dev/nvidia-caps/nvidia-cap21,/dev/nvidia-caps/nvidia-cap22
NodeName=mig-1 Name=gpu Type=3g.20gb MultipleFiles=/dev/nvidia0,/dev/nvidia-caps/nvidia-cap12,/dev/nvidia-caps/nvidia-cap13
"""  # noqa: E501


def test_texts_are_as_they_should_be() -> None:
    assert mig_parted_yaml(MIXED) == YAML
    assert slurm_conf_lines(MIXED) == SLURM
    assert gres_conf_detected(MIXED) == "NodeName=mig-[1-2] AutoDetect=nvml\n"


def test_nodes_that_are_cut_alike_share_one_configuration() -> None:
    plan = plan_of("2,2", 2, "mig-1", "mig-2", "other")
    assert [group.nodes for group in plan.groups] == [("mig-1", "mig-2", "other")]
    assert "NodeName=mig-[1-2],other Gres=gpu:4g.20gb:2,gpu:3g.20gb:2\n" in slurm_conf_lines(plan)
    assert "    - devices: [0, 1]\n" in mig_parted_yaml(plan)


def test_devices_come_from_what_the_node_shows() -> None:
    instances = read_instances(LISTED, A100)
    assert instances[0] == (
        Instance("4g.20gb", 0, (21, 22)),
        Instance("3g.20gb", 4, (12, 13)),
    )
    assert gres_conf_listed(plan_of("2,1", 2, "mig-1"), {"mig-1": instances}) == GRES


def test_a_node_that_is_not_cut_as_planned_is_refused() -> None:
    instances = read_instances(LISTED, A100)
    with pytest.raises(ConfigError, match=r"GPU 0: the plan has 1 × 7g.40gb, the node shows"):
        gres_conf_listed(plan_of("1,1", 2, "mig-1"), {"mig-1": instances})
    with pytest.raises(ConfigError, match="GPU 1: the plan has nothing"):
        gres_conf_listed(plan_of("2", 1, "mig-1"), {"mig-1": instances})
    with pytest.raises(ConfigError, match="node mig-2: no list"):
        gres_conf_listed(plan_of("2,1", 2, "mig-1", "mig-2"), {"mig-1": instances})
    with pytest.raises(ConfigError, match="absolute, plain path"):
        gres_conf_listed(plan_of("2,1", 2, "mig-1"), {"mig-1": instances}, "/dev\nName=x")


def test_a_list_of_instances_that_makes_no_sense_is_refused() -> None:
    with pytest.raises(ConfigError, match="no GPU instance"):
        read_instances("No MIG-enabled devices found.\n", A100)
    with pytest.raises(ConfigError, match="GPU 1 instance 0: no minor numbers"):
        read_instances(LISTED.replace("gpu1/", "gpu2/"), A100)
    with pytest.raises(MigRuleError, match="illegal start"):
        read_instances(LISTED.replace("4:4", "2:4"), A100)


CUTS = st.sampled_from([*map(str, range(1, 20)), "1g.10gb+1g.10gb", "3g.20gb+1g.5gb"])
NAMES = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,20}", fullmatch=True)


@settings(max_examples=100, deadline=None)
@given(
    cuts=st.lists(CUTS, min_size=1, max_size=8),
    nodes=st.lists(NAMES, min_size=1, max_size=4, unique=True),
    name=NAMES,
)
def test_another_yaml_reader_finds_the_plan_again(
    cuts: list[str], nodes: list[str], name: str
) -> None:
    plan = plan_of(",".join(cuts), len(cuts), *nodes, name=name)
    found: Any = yaml.safe_load(mig_parted_yaml(plan))
    assert found["version"] == "v1"
    (entries,) = found["mig-configs"].values()
    assert list(found["mig-configs"]) == [f"{name}-1"]
    by_device = {d: entry["mig-devices"] for entry in entries for d in entry["devices"]}
    assert all(entry["mig-enabled"] is True for entry in entries)
    assert by_device == {i: plan.counts([cut]) for i, cut in enumerate(plan.nodes[0].gpus)}


@pytest.mark.parametrize(("nodes_file", "lines"), [("mig.conf", SLURM), ("untyped.conf", "")])
def test_our_own_reader_of_slurm_files_counts_the_same_slices(
    tmp_path: Path, nodes_file: str, lines: str
) -> None:
    """Once from the typed Gres=, once from gres.conf alone, one line per slice."""
    plan = plan_of("2,1", 2, "mig-1")
    (tmp_path / "gres.conf").write_text(
        gres_conf_listed(plan, {"mig-1": read_instances(LISTED, A100)})
    )
    (tmp_path / nodes_file).write_text(slurm_conf_lines(plan) if lines else "NodeName=mig-1\n")
    cluster = read_cluster(tmp_path / nodes_file, "slurm-conf").cluster
    assert [(node.name, node.gpus) for node in cluster.nodes] == [("mig-1", 3)]
    assert cluster.nodes[0].gpu_type == "7g.40gb"


@pytest.mark.parametrize(
    ("cuts", "words"),
    [
        ("20", "no configuration 20"),
        ("0", "no configuration 0"),
        ("1,,1", "no profile ''"),
        ("4g.20gb+2g.10gb+2g.10gb", "compute slices exceeded"),
        ("3g.20gb+3g.20gb+1g.5gb", "memory slices exceeded"),
        ("2g.10gb+2g.10gb+2g.10gb+2g.10gb", "too many of a profile"),
        ("1g.6gb", "unknown profile"),
        ("1,1", "give 1 .* or 3"),
    ],
)
def test_a_cut_that_cannot_be_is_refused(cuts: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        plan_of(cuts, 1, "a", "b", "c")


def test_a_plan_names_the_gpu_that_breaks_a_rule() -> None:
    bad = NodePlan("mig-1", (("7g.40gb",), ("4g.20gb", "4g.20gb")))
    with pytest.raises(MigRuleError, match=r"node mig-1 GPU 1: .* \(too many of a profile\)$"):
        MigPlan(A100, (bad,))


@pytest.mark.parametrize("name", ["", "-x", "a b", 'a"', "a\nb", "a:b", "ä", "a#", "x" * 64, "a\n"])
def test_names_that_could_change_a_file_are_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="name"):
        plan_of("1", 1, name)
    with pytest.raises(ConfigError, match="name"):
        plan_of("1", 1, "mig-1", name=name)


def test_a_plan_without_nodes_or_with_one_twice_is_refused() -> None:
    with pytest.raises(ConfigError, match="at least one node"):
        MigPlan(A100, ())
    with pytest.raises(ConfigError, match="named twice"):
        plan_of("1", 1, "mig-1", "mig-1")


def test_spreading_gives_every_node_its_share_of_each_cut() -> None:
    cuts = parse_cuts("1,1,2,2,19,19", A100)
    first, second = spread(["a", "b"], 3, cuts)
    assert first.gpus == second.gpus == tuple(parse_cuts("1,2,19", A100))
