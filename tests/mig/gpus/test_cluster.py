"""Clusters of sliced GPUs: specifications and cluster files, read through one table of models."""

from __future__ import annotations

from pathlib import Path

import pytest

from dovetail.domain.errors import ClusterError, UnknownName
from dovetail.mig.gpus.cluster import MigCluster
from dovetail.mig.gpus.table import GPU_MODELS
from dovetail.mig.metrics import summary
from dovetail.mig.policies import PLACERS
from dovetail.mig.simulator import simulate_mig
from dovetail.mig.workload.day import mig_day


@pytest.mark.parametrize("name", GPU_MODELS)
def test_every_model_of_the_table_can_be_simulated(name: str) -> None:
    last = len(GPU_MODELS[name].configurations)
    cluster = MigCluster.parse(f"4x{name}:1,2,3,{last}")
    found = summary(simulate_mig(mig_day(seed=1, rate=5.0, hours=1.0), cluster, PLACERS["eft"]))
    assert found["unfinished"] == 0
    assert MigCluster.parse(cluster.text) == cluster


def test_a_cluster_file_and_a_specification_give_the_same_cluster(tmp_path: Path) -> None:
    path = tmp_path / "cluster.toml"
    path.write_text(
        '[[nodes]]\ncount = 2\ngpus = 2\ntype = "h100-80"\nmig = [1, 12]\n'
        '[[nodes]]\ngpus = 1\ntype = "a30-24"\n'
    )
    assert MigCluster.open(str(path)) == MigCluster.parse("4xh100-80:1,12,1,12 + 1xa30-24")


@pytest.mark.parametrize(
    ("node", "problem"),
    [
        ('gpus = 1\ntype = "v100"', "type 'v100', which cannot be cut"),
        ('gpus = 1\ntype = "a30-24"\nmig = [6]', "no configuration 6, expected 1 to 5"),
        ('gpus = 2\ntype = "a30-24"\nmig = [1]', "one configuration number"),
        ('gpus = 1\ntype = "a30-24"\nmig = [0]', "one configuration number"),
    ],
)
def test_a_cluster_file_that_no_gpu_can_be_cut_by_is_refused(
    tmp_path: Path, node: str, problem: str
) -> None:
    path = tmp_path / "cluster.toml"
    path.write_text(f"[[nodes]]\n{node}\n")
    with pytest.raises(ClusterError, match=problem):
        MigCluster.open(str(path))


@pytest.mark.parametrize(
    "text",
    ["", "8x", "a100-40", "8xa100-40:", "8xa100-40:0", "8xa100-40:99", "0xa100-40", "8xa100-40:1,2",
     "999999999xa100-40", f"{'9' * 5000}xa100-40", f"1xa100-40:{'9' * 5000}", "8xa100-40:,"],
)  # fmt: skip
def test_a_bad_specification_is_refused_at_once(text: str) -> None:
    with pytest.raises(ClusterError):
        MigCluster.parse(text)


def test_an_unknown_model_answers_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match="did you mean 'b200-180'"):
        MigCluster.parse("8xb200:1")
