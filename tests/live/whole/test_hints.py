"""Where a site allows it, a learned allocator's node is told to a real Slurm, and taken back."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from dovetail.live.config import ActConfig
from dovetail.live.cycle.controller import LiveController
from dovetail.live.model.decision import Knob
from dovetail.policies.learned.checkpoint import Checkpoint, save_checkpoint
from dovetail.policies.node_features import NODE_FEATURES
from dovetail.policies.placement.allocator import SHAPES
from tests.live.conftest import StartCluster
from tests.live.slurm import SMALL_LAYOUT, Cluster, Options
from tests.live.steering import steering, until

DEFERRED = "defer,sched_interval=6,batch_sched_delay=6,bf_interval=30"
"""A Slurm that starts jobs every few seconds only: there a hint comes in time."""


def trained_allocator(folder: Path) -> Path:
    """A pair whose allocator takes the node with most free GPUs; Slurm takes the small one."""
    arrays = {name: np.zeros(shape) for name, shape in SHAPES.items()}
    arrays["skip"][NODE_FEATURES.index("free_count"), 0] = 1.0
    named = {f"allocator_{name}": part for name, part in arrays.items()}
    named["allocator_node_features"] = np.array(NODE_FEATURES)
    card = {"agent": "none"}
    save_checkpoint(
        folder, Checkpoint("selector-allocator", {"order": np.array("sjf"), **named}, card)
    )
    return folder


def host_of(cluster: Cluster, job: int) -> str:
    return cluster.job(job).get("NodeList", "")


def pinned(controller: LiveController, cluster: Cluster, knob: Knob = Knob.NODE) -> tuple[int, str]:
    """A waiting job, and where it was sent to; Slurm may be quicker now and then."""
    controller.cycle()  # loads the policy, which may take longer than Slurm waits
    for _ in range(5):
        job = cluster.submit(gpus=1, seconds=600)
        controller.cycle()
        done = controller.journal.past.actions(job)
        # Refused are those of jobs that have just started.
        pins = [each for each in done if each.knob is knob and not each.error]
        if pins:
            return job, str(pins[0].after)
        cluster.cancel(job)
    raise AssertionError("no job was pinned")


def test_a_learned_allocators_node_is_where_slurm_starts_the_job(
    start_cluster: StartCluster, tmp_path: Path
) -> None:
    cluster = start_cluster(Options(nodes=SMALL_LAYOUT, scheduler=DEFERRED))
    alone = cluster.submit(gpus=1, seconds=0.1)
    until(lambda: host_of(cluster, alone).startswith("k80"), "Slurm alone takes the small node")
    policy, act = str(trained_allocator(tmp_path / "pair")), ActConfig(hints=True)
    with steering(cluster, tmp_path, policy=policy, act=act) as controller:
        job, node = pinned(controller, cluster)
        assert node.startswith("p100")
        until(lambda: cluster.states()[job] == "RUNNING", "it runs")
        assert host_of(cluster, job) == node
        cluster.cancel(job)
        # A pin of a job that did not start is taken back when active mode ends.
        job, node = pinned(controller, cluster)
        controller.leave("the test says so")
        assert cluster.job(job)["ReqNodeList"] in ("(null)", "") or host_of(cluster, job) == node
        assert not controller.owes


def test_a_feature_is_where_slurm_starts_the_job_and_is_taken_back(
    start_cluster: StartCluster, tmp_path: Path
) -> None:
    cluster = start_cluster(Options(nodes=SMALL_LAYOUT, scheduler=DEFERRED))
    alone = cluster.submit(gpus=1, seconds=0.1)
    until(lambda: host_of(cluster, alone).startswith("k80"), "Slurm alone takes the small node")
    policy = str(trained_allocator(tmp_path / "pair"))
    act = ActConfig(hints=True, hint_by="features")
    with steering(cluster, tmp_path, policy=policy, act=act) as controller:
        job, feature = pinned(controller, cluster, Knob.FEATURES)
        assert feature == "p100"
        until(lambda: cluster.states()[job] == "RUNNING", "it runs")
        assert host_of(cluster, job).startswith("p100")
        assert cluster.job(job)["ReqNodeList"] in ("(null)", "")
        cluster.cancel(job)
        job, feature = pinned(controller, cluster, Knob.FEATURES)
        controller.leave("the test says so")
        left = cluster.job(job)["Features"]
        assert left in ("(null)", "") or host_of(cluster, job).startswith(feature)
        assert not controller.owes
