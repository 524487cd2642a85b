"""What real Slurms printed of their nodes and their past jobs is read as what there was."""

from __future__ import annotations

from pathlib import Path

import pytest

from dovetail.domain.outages import OutageState
from dovetail.traces.clusters import read_cluster
from dovetail.traces.reader import read_trace
from tests.live.recordings import VERSIONS, Recorded, rest_answers
from tests.slurm.test_files import RECORDINGS
from tests.slurm.test_files import VERSIONS as NEWER
from tests.traces.samples import write

SHAPES = {
    "k80-1": (2, "k80", 8, 62.5),
    "k80-2": (2, "k80", 8, 62.5),
    "m40-1": (1, "m40", 8, 31.25),
    "p100-1": (4, "p100", 16, 125),
    "p100-2": (4, "p100", 16, 125),
}


def shapes(path: Path) -> dict[str, tuple[float | str, ...]]:
    nodes = read_cluster(path).cluster.nodes
    return {node.name: (node.gpus, node.gpu_type, node.cpus, node.memory_gb) for node in nodes}


@pytest.mark.parametrize("version", VERSIONS)
def test_nodes_as_text_and_by_rest(version: str, tmp_path: Path) -> None:
    text = Recorded(version).said("scontrol", "-a", "-d", "-o", "show", "node")
    by_rest = rest_answers(version)["GET nodes"].text.decode()
    for name, content in (("nodes.txt", text), ("nodes.json", by_rest)):
        assert shapes(write(tmp_path / name, content)) == SHAPES


@pytest.mark.parametrize("version", NEWER)
def test_nodes_as_scontrol_tells_them_in_json(version: str) -> None:
    assert shapes(RECORDINGS / version / "scontrol-nodes.json") == SHAPES


@pytest.mark.parametrize("version", NEWER)
def test_past_jobs_as_sacct_tells_them_in_json(version: str) -> None:
    trace = read_trace(RECORDINGS / version / "sacct.json")
    assert trace.jobs.ids.tolist()[:2] == ["1", "2"]
    assert set(trace.jobs.gpus.tolist()) <= {1, 2, 4}
    assert (trace.jobs.run >= 0).all()


FILES = Path(__file__).parent / "files"
CONF = """\
NodeName=p100-[1-2] CPUs=8 Gres=gpu:p100:2
NodeName=k80-1 CPUs=8 Gres=gpu:k80:1
PartitionName=batch Nodes=ALL
"""


@pytest.mark.parametrize("name", ["sacctmgr-P-show-event", "sacctmgr-P-show-event-format"])
def test_nodes_that_were_down_or_drained(name: str, tmp_path: Path) -> None:
    conf = write(tmp_path / "slurm.conf", CONF)
    found = read_cluster(conf, more=(FILES / f"slurm-22.05-{name}.txt",)).cluster
    assert {
        (found.nodes[node].name, each.state, each.reason)
        for each in found.outages
        for node in each.nodes
    } == {
        ("k80-1", OutageState.DOWN, "no power"),
        ("p100-1", OutageState.DRAIN, "fan broken "),
    }


def test_nodes_that_were_reserved(tmp_path: Path) -> None:
    conf = write(tmp_path / "slurm.conf", CONF)
    more = (FILES / "slurm-22.05-scontrol-show-reservation.txt",)
    found = read_cluster(conf, more=more).cluster
    assert {
        (each.name, frozenset(found.nodes[node].name for node in each.nodes))
        for each in found.reservations
    } == {("upkeep", frozenset({"p100-2"})), ("course", frozenset({"k80-1", "p100-1"}))}
