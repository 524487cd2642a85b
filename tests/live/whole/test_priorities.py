"""The priorities that we replay with are those of the Slurm that is installed here."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.live.conftest import StartCluster
from tests.live.cycle.test_controller import fill
from tests.live.slurm import SMALL_LAYOUT, Accounting, NodeGroup, Options, Partition
from tests.live.slurm.options import Account, Qos, User
from tests.live.steering import running, steering
from tests.live.whole.test_kinds_of_jobs import ranked
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


LEVELS = Options(
    nodes=SMALL_LAYOUT,
    partitions=tuple(
        Partition(name, settings=(f"PriorityJobFactor={factor}",))
        for name, factor in (("low", 1), ("high", 2))
    ),
    # An hour of waiting gives 1,000 points, one of the partitions 200,000 more than the other.
    weights=(("Partition", 400_000),),
)
AGEING = replace(LEVELS, extra=("PriorityWeightAge=1000",))


def test_orders_near_slurms_weigh_as_the_site_does(
    start_cluster: StartCluster, tmp_path: Path
) -> None:
    cluster = start_cluster(AGEING)
    fill(cluster)
    long, short = (
        cluster.submit(gpus=4, seconds=1, gpu_type="p100", minutes=minutes, partition=partition)
        for minutes, partition in ((600, "high"), (10, "low"))
    )
    ranked(cluster, long, short)
    # 590 minutes more cost 98,333 points at ten points a second of waiting, 295,000 at thirty.
    for policy, first in (("slurm-shorter-10", long), ("slurm-shorter-30", short)):
        folder = tmp_path / policy
        folder.mkdir()
        with steering(cluster, folder, policy=policy) as controller:
            controller.cycle()
            controller.cycle()  # from what Slurm gave them, not from what we set
            assert max((long, short), key=cluster.priorities().__getitem__) == first


def test_doctor_and_daemon_say_that_nothing_can_be_bent(
    start_cluster: StartCluster, tmp_path: Path
) -> None:
    cluster = start_cluster(LEVELS)
    with running(cluster, tmp_path, policy="slurm-shorter-10") as daemon:
        assert daemon.code == 2
        assert "PriorityWeightAge is 0" in daemon.said
        assert "PriorityWeightAge is 0" in daemon.command("doctor", check=False).stdout


def test_priorities_are_what_sprio_and_sshare_say(
    start_cluster: StartCluster, tmp_path: Path
) -> None:
    capture(start_cluster(SITE), tmp_path)
    assert differences(tmp_path) == []
