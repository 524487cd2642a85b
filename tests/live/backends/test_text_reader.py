"""Nodes, priorities and shares from what scontrol, sprio and sshare print."""

from __future__ import annotations

import math
import re

import pytest

from dovetail.domain.associations import AS_PARENT, Association
from dovetail.live.backends.base import Unreadable
from dovetail.live.backends.slurm.arrays import doubtful, joined, without_split
from dovetail.live.backends.slurm.priorities import (
    SPRIO,
    SSHARE,
    associations_of,
    factors_of,
    shares_of,
)
from dovetail.live.backends.slurm.show import (
    NodeRecords,
    billing_of_partitions,
    nodes_of,
    partitions_of,
    reservations_of,
)
from dovetail.live.model.snapshot import Factor, LiveJob
from dovetail.slurm.show import settings_of
from tests.live.recordings import VERSIONS, Recorded
from tests.live.recordings.queue import REASON

HEADER = "JOBID PRIORITY SITE NICE AGE ASSOC FAIRSHARE JOBSIZE PARTITION QOS |TRES\n"

every_version = pytest.mark.parametrize("version", VERSIONS)


def show(version: str, *words: str) -> str:
    return Recorded(version).said("scontrol", "-a", *words)


@every_version
def test_nodes_of_a_real_cluster(version: str) -> None:
    nodes = {node.name: node for node in nodes_of(show(version, "-d", "-o", "show", "node"))}
    assert len(nodes) == 5
    node = nodes["p100-1"]
    assert (node.gpus, node.gpu_type) == (4, "p100")
    assert node.gpus_used + nodes["p100-2"].gpus_used == 3
    assert (node.cpus, node.memory_gb) == (16.0, 125.0)
    assert node.partitions == ("gpu", "late")
    assert node.features == {"p100"}


@every_version
def test_a_drained_node_tells_its_reason_without_who_and_when(version: str) -> None:
    nodes = {node.name: node for node in nodes_of(show(version, "-d", "-o", "show", "node"))}
    node = nodes["k80-2"]
    assert node.state == "IDLE"
    assert "DRAIN" in node.flags
    assert not node.usable
    assert node.reason == REASON
    assert (node.gpus, node.gpus_used) == (2, 0)


@every_version
def test_partitions_of_a_real_cluster(version: str) -> None:
    gpu, late = partitions_of(show(version, "-o", "show", "partition"))
    assert gpu.name == "gpu"
    assert gpu.up
    assert len(gpu.nodes) == 5
    assert math.isnan(gpu.limit)
    assert (late.tier, late.up) == (2, False)


@every_version
def test_reservations(version: str) -> None:
    (course,) = reservations_of(show(version, "-o", "show", "reservation"))
    assert (course.name, course.nodes) == ("course", ("k80-2",))
    assert course.end - course.start == 3600
    assert reservations_of("No reservations in the system\n") == ()


@every_version
def test_settings_of_a_real_cluster(version: str) -> None:
    settings = settings_of(Recorded(version).said("scontrol", "show", "config"))
    assert settings["PriorityType"] == "priority/multifactor"
    assert settings["PriorityWeightFairShare"] == "1000"
    assert settings["SLURM_VERSION"].startswith(version)


@every_version
def test_the_tree_of_accounts(version: str) -> None:
    tree = associations_of(Recorded(version).said("sshare", *SSHARE))
    assert tree == (
        Association("root", user="root"),
        Association("biology", shares=29),
        Association("biology", user="games"),
        Association("physics", shares=70),
        Association("cold", parent="physics"),
        Association("hot", parent="physics", shares=3),
        Association("hot", user="root"),
    )


def test_who_shares_as_the_parent_and_who_has_a_row_for_each_partition() -> None:
    header = "Account|User|RawShares|RawUsage"
    text = f"{header}\nroot|||0\n lab||parent|0\n  lab|ann|parent|5\n  lab|ann|7|5\n"
    assert associations_of(text) == (
        Association("lab", shares=AS_PARENT),
        Association("lab", user="ann", shares=AS_PARENT),
    )
    with pytest.raises(Unreadable, match="no header"):
        associations_of("root|||0\n")


def test_what_partitions_bill() -> None:
    weights = "TRESBillingWeights=GRES/gpu=1.5,CPU=2"
    text = f"PartitionName=gpu Nodes=a {weights}\nPartitionName=cpu Nodes=b"
    assert billing_of_partitions(text) == {"gpu": (("gpu", 1.5), ("cpu", 2.0)), "cpu": ()}


@every_version
def test_factors_add_up_unless_the_priority_was_set_by_hand(version: str) -> None:
    answers = Recorded(version)
    ids = {row["Name"]: int(row["JobID"]) for row in answers.job_rows()}
    factors = factors_of(answers.said("sprio", *SPRIO))
    assert factors[ids["frozen"]] == Factor(4_000_000, 0, True)
    assert factors[ids["below"]] == Factor(1, -999_999, False)
    assert (factors[ids["first"]].site, factors[ids["first"]].frozen) == (5000, False)
    assert (factors[ids["urgent"]].qos, factors[ids["theirs"]].qos) == (1000, 0)
    assert factors[ids["nice"]].priority < factors[ids["theirs"]].priority
    assert {job for job, factor in factors.items() if factor.frozen} == {ids["frozen"]}


@every_version
def test_a_job_in_several_partitions_has_its_best_priority(version: str) -> None:
    answers = Recorded(version)
    text = answers.said("sprio", *SPRIO)
    (choosy,) = (row["JobID"] for row in answers.job_rows() if row["Name"] == "choosy")
    rows = [line.split() for line in text.splitlines() if line.split()[0] == choosy]
    assert len(rows) == 2
    best = max(int(row[1]) for row in rows)
    assert factors_of(text)[int(choosy)] == Factor(best, 0, False)


@every_version
def test_a_job_that_slurm_has_not_computed_yet_has_no_factors(version: str) -> None:
    """So seen of 24.11 in the first second after a restart, of all jobs."""
    text = Recorded(version).said("sprio", *SPRIO)
    unready = re.sub(r"(?m)^(\d+ \d+) -999999 ", r"\1 -2147483648 ", text)
    (below,) = (job for job, factor in factors_of(text).items() if factor.site == -999_999)
    assert factors_of(text).keys() - factors_of(unready).keys() == {below}


def test_no_pending_job_no_factors() -> None:
    assert factors_of(HEADER) == {}


@pytest.mark.parametrize("text", ["4 1564 0\n", "sprio: what?\n", "4 1 2 3 x 5 6 7 8 9 |\n"])
def test_other_words_than_numbers_of_sprio_are_refused(text: str) -> None:
    with pytest.raises(Unreadable, match="sprio"):
        factors_of(HEADER + text)


@every_version
def test_shares_are_parts_of_the_whole_at_any_depth(version: str) -> None:
    shares = {
        share.account: share for share in shares_of(Recorded(version).said("sshare", *SSHARE))
    }
    assert shares["physics"].share == pytest.approx(0.70)
    assert shares["hot"].share == pytest.approx(0.70 * 0.75)
    assert shares["cold"].share == pytest.approx(0.70 * 0.25)
    assert shares["biology"].share == pytest.approx(0.29)
    header = Recorded(version).said("sshare", *SSHARE).partition("\n")[0]
    assert shares_of(f"{header}\n") == ()


@pytest.mark.parametrize("garbage", ["", "sshare: unknown\n", "1|2|3|4\n"])
def test_an_answer_without_its_header_is_none(garbage: str) -> None:
    with pytest.raises(Unreadable, match="no header"):
        shares_of(garbage)
    with pytest.raises(Unreadable, match="no header"):
        factors_of(garbage)


def task(number: int, id: int, array: int = 17, state: str = "PENDING") -> LiveJob:
    return LiveJob(id, f"{array}_{number}", state, array=array)


def test_tasks_of_one_record_are_one_job_and_split_ones_are_not() -> None:
    rows = [task(5, 17), task(6, 17), task(4, 23), LiveJob(9, "9", "PENDING"), task(9, 17)]
    labels = [(job.id, job.label, job.tasks) for job in joined(rows, {})]
    assert labels == [(17, "17_[5-6,9]", 3), (23, "17_4", 1), (9, "9", 1)]


def test_a_task_that_squeue_loses_is_found_again() -> None:
    rows = [task(1, 17), task(3, 17), task(5, 17), task(2, 23)]
    assert doubtful(rows) == {17: (1, 3, 5)}
    # squeue's own list has the task that was split off in it again.
    exact = without_split({17: "1-3,5,7"}, rows)
    assert joined(rows, exact)[0].label == "17_[1,3,5,7]"
    assert doubtful([task(1, 17), task(2, 17), task(3, 17)]) == {}
    assert doubtful([task(1, 17)]) == {17: (1,)}
    assert doubtful([task(1, 17, state="RUNNING")]) == {}


@pytest.mark.parametrize("word", ["CPULoad", "FreeMem", "LastBusyTime", "State", "GresUsed"])
def test_nodes_that_have_changed_are_read_as_if_for_the_first_time(word: str) -> None:
    def record(name: str, value: str) -> str:
        fields = {
            "CPUTot": "8", "CPULoad": "0.1", "Gres": "gpu:4", "GresUsed": "gpu:1",
            "RealMemory": "1024", "FreeMem": "99", "State": "IDLE", "LastBusyTime": "5",
            "Partitions": "gpu",
        }  # fmt: skip
        fields[word] = value
        said = " ".join(f"{key}={text}" for key, text in fields.items())
        return f"NodeName={name} {said}    Reason=CPULoad=9 too high [root@5]\n"

    values = {"State": ("IDLE", "DOWN"), "GresUsed": ("gpu:1", "gpu:3")}.get(word, ("1", "2"))
    records = NodeRecords()
    for value in values:
        text = record("a", value) + record("b", values[0])
        assert records.parse(text) == NodeRecords().parse(text)
