"""The priorities that we replay with are those of the Slurm that is installed here."""

from __future__ import annotations

from pathlib import Path

from tests.live.conftest import StartCluster
from tests.live.slurm import Accounting, NodeGroup, Options, Partition
from tests.live.slurm.options import Account, Qos, User
from tests.policies.slurm_priorities import capture, differences

BILLING = "TRESBillingWeights=CPU=1.0,Mem=0.25G,GRES/gpu=2.0"
SITE = Options(
    nodes=(NodeGroup("p100", 2, gpus=4, cpus=16), NodeGroup("cpu", 1, gpus=0)),
    partitions=(
        Partition("batch", settings=("PriorityJobFactor=2", BILLING)),
        Partition("gpu", nodes=("p100-[1-2]",), settings=("PriorityJobFactor=5",)),
    ),
    accounting=Accounting(
        accounts=(
            Account("physics", 3),
            Account("biology", 2),
            Account("optics", 2, ("parent=physics",)),
            Account("plasma", 1, ("parent=physics",)),
            Account("genes", 1, ("parent=biology",)),
        ),
        users=(
            User("games", "optics"), User("man", "optics", 2), User("lp", "plasma"),
            User("mail", "genes"), User("news", "genes", 3), User("uucp", "biology"),
        ),
        qos=(Qos("high", 10), Qos("mid", 4)),
    ),
    auth="none",
    speed=30.0,
    weights=(
        ("Age", 1000), ("Fairshare", 10_000), ("JobSize", 2000), ("Partition", 3000), ("QOS", 4000)
    ),
    extra=("PriorityWeightTRES=CPU=1000,Mem=500,GRES/gpu=3000",),
)  # fmt: skip


def test_priorities_are_what_sprio_and_sshare_say(
    start_cluster: StartCluster, tmp_path: Path
) -> None:
    capture(start_cluster(SITE), tmp_path)
    assert differences(tmp_path) == []
