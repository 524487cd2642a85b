"""ADLRO beside Slurm: jobs of one GPU are sent to the node whose GPUs suit them, where allowed."""

from __future__ import annotations

from pathlib import Path

import pytest

from dovetail.live.config import ActConfig
from dovetail.live.cycle.decider import Decider
from dovetail.live.model.snapshot import Factor, LiveJob, LiveNode, Snapshot
from dovetail.policies.policy import Policy
from tests.policies.test_assigner import index_model

CLUSTER = """
[[nodes]]
count = 1
gpus = 4
type = "volta"

[[nodes]]
count = 1
gpus = 4
type = "turing"

[kind_speed.simulation]
volta = 1.0
turing = 0.35

[kind_speed.data]
volta = 0.6
turing = 1.0
"""


def snapshot() -> Snapshot:
    jobs = tuple(
        LiveJob(
            number, str(number), "PENDING", submit=float(number), eligible=float(number),
            limit=3600.0, gpus=1, priority=1, account=account,
        )
        for number, account in ((1, "data"), (2, "simulation"), (3, "other"))
    )  # fmt: skip
    nodes = (
        LiveNode("turing-1", "IDLE", gpus=4, gpu_type="turing"),
        LiveNode("volta-1", "IDLE", gpus=4, gpu_type="volta"),
    )
    return Snapshot(100.0, jobs, nodes, factors={n: Factor(1, 0, False) for n in (1, 2, 3)})


@pytest.fixture
def speeds(tmp_path: Path) -> str:
    path = tmp_path / "cluster.toml"
    path.write_text(CLUSTER)
    return str(path)


def test_each_kind_gets_a_hint_to_the_node_that_suits_it(tmp_path: Path, speeds: str) -> None:
    policy = Policy.parse(str(index_model(tmp_path / "model")))
    decision = Decider(policy, ActConfig(hints=True, speeds=speeds)).decide(snapshot())
    hints = {job: hint.node for job, hint in decision.hints.items()}
    assert (hints[1], hints[2]) == ("turing-1", "volta-1")
    assert decision.order == (1, 2, 3)


def test_without_leave_nothing_is_pinned(tmp_path: Path, speeds: str) -> None:
    policy = Policy.parse(str(index_model(tmp_path / "model")))
    assert not Decider(policy, ActConfig(speeds=speeds)).decide(snapshot()).hints
