"""Nodes, priorities and shares from what scontrol, sprio and sshare print."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from dovetail.live.backends.base import Unreadable
from dovetail.live.backends.slurm.arrays import doubtful, joined, without_split
from dovetail.live.backends.slurm.priorities import factors_of, shares_of
from dovetail.live.backends.slurm.show import (
    NodeRecords,
    nodes_of,
    partitions_of,
    reservations_of,
)
from dovetail.live.model.snapshot import Factor, LiveJob, Share
from dovetail.slurm.show import settings_of

HEADER = "JOBID PRIORITY SITE NICE AGE ASSOC FAIRSHARE JOBSIZE PARTITION QOS |TRES\n"
SHARES = "Account|User|RawShares|RawUsage\n"

SAMPLES = Path(__file__).parent / "samples" / "22.05"


def sample(name: str) -> str:
    return (SAMPLES / name).read_text()


def test_nodes_of_a_real_cluster() -> None:
    nodes = {node.name: node for node in nodes_of(sample("scontrol-d-show-nodes.txt"))}
    assert len(nodes) == 5
    node = nodes["p100-1"]
    assert (node.gpus, node.gpu_type, node.gpus_used) == (4, "p100", 4)
    assert (node.cpus, node.memory_gb) == (16.0, 125.0)
    assert node.partitions == ("gpu", "late")
    assert node.features == {"p100"}


def test_a_drained_node_tells_its_reason_without_who_and_when() -> None:
    line = (
        "NodeName=n1 CPUTot=8 Gres=gpu:2(S:0) GresUsed=gpu:(null):0(IDX:N/A) RealMemory=2048 "
        "State=IDLE+DRAIN+NOT_RESPONDING Partitions=gpu  Reason=State=IDLE they say "
        "[root@2026-11-15T19:28:29]"
    )
    (node,) = nodes_of(line)
    assert node.state == "IDLE"
    assert node.flags == {"DRAIN", "NOT_RESPONDING"}
    assert not node.usable
    assert node.reason == "State=IDLE they say"
    assert (node.gpus, node.gpus_used) == (2, 0)


def test_partitions_of_a_real_cluster() -> None:
    gpu, late = partitions_of(sample("scontrol-show-partitions.txt"))
    assert gpu.name == "gpu"
    assert gpu.up
    assert len(gpu.nodes) == 5
    assert math.isnan(gpu.limit)
    assert (late.tier, late.up) == (2, False)


def test_reservations() -> None:
    line = (
        "ReservationName=course StartTime=1794805572 EndTime=1794809172 Duration=01:00:00 "
        "Nodes=k80-[1-2] NodeCnt=2 CoreCnt=16 Features=(null) Users=root\n"
    )
    (course,) = reservations_of(line)
    assert course.nodes == ("k80-1", "k80-2")
    assert (course.start, course.end) == (1794805572, 1794809172)
    assert reservations_of("No reservations in the system\n") == ()


def test_settings_of_a_real_cluster() -> None:
    settings = settings_of(sample("scontrol-show-config.txt"))
    assert settings["PriorityType"] == "priority/multifactor"
    assert settings["PriorityWeightFairShare"] == "1000"


def test_factors_add_up_unless_the_priority_was_set_by_hand() -> None:
    text = (
        "4 1564 0 0 13 0 333 218 1000 0 |\n"
        "6 4000000000 0 0 0 0 0 0 0 0 |\n"
        "13 1 -999999 0 19 0 333 243 1000 0 |\n"
        "14 1466 5 100 19 0 433 109 1000 0 |\n"
        "15 1 0 0 0 0 0 0 0 0 |\n"
        "16 77 77 0 0 0 0 0 0 0 |\n"
    )
    assert factors_of(HEADER + text) == {
        4: Factor(1564, 0, False),
        6: Factor(4000000000, 0, True),
        13: Factor(1, -999999, False),
        14: Factor(1466, 5, False),
        15: Factor(1, 0, False),
        16: Factor(77, 77, False),
    }


def test_factors_of_trackable_resources_count() -> None:
    text = "4 500 0 0 0 0 0 0 0 0 |cpu=0,gres/gpu=500\n5 500 0 0 0 0 0 0 0 0 |cpu=0,gres/gpu=0\n"
    assert factors_of(HEADER + text) == {4: Factor(500, 0, False), 5: Factor(500, 0, True)}


def test_a_job_in_several_partitions_has_its_best_priority() -> None:
    text = "4 900 7 0 0 0 0 0 893 0 |\n4 300 7 0 0 0 0 0 293 0 |\n"
    assert factors_of(HEADER + text) == {4: Factor(900, 7, False)}


def test_no_pending_job_no_factors() -> None:
    assert factors_of(HEADER) == {}


@pytest.mark.parametrize("text", ["4 1564 0\n", "sprio: what?\n", "4 1 2 3 x 5 6 7 8 9 |\n"])
def test_other_words_than_numbers_of_sprio_are_refused(text: str) -> None:
    with pytest.raises(Unreadable, match="sprio"):
        factors_of(HEADER + text)


def test_shares_are_parts_of_the_whole_at_any_depth() -> None:
    text = (
        "root|||400\n root|root|1|0\n physics||70|300\n  hot||3|100\n   hot|ada|1|100\n"
        "  cold||1|200\n biology||29|100\n  biology|eve|parent|100\n"
    )
    assert shares_of(SHARES + text) == (
        Share("physics", 0.70, 0.75),
        Share("hot", 0.70 * 0.75, 0.25),
        Share("cold", 0.70 * 0.25, 0.5),
        Share("biology", 0.29, 0.25),
    )
    assert shares_of(SHARES) == ()


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
