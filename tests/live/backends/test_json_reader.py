"""Slurm's JSON of several versions tells the same of the same cluster."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from dovetail.live.backends.base import Unreachable, Unreadable
from dovetail.live.backends.slurm.json_shapes import answer_of, jobs_of, nodes_of
from dovetail.live.model.snapshot import LiveJob
from dovetail.slurm.json_values import number_of

SAMPLES = Path(__file__).parent / "samples"
LATER = ("23.02", "23.11", "24.05", "25.05")
ALL = ("22.05", *LATER)


def answer(version: str, name: str) -> Any:
    return answer_of((SAMPLES / version / f"{name}.json").read_bytes(), name)


def jobs(version: str) -> dict[int, LiveJob]:
    found, doubts = jobs_of(answer(version, "squeue"))
    assert doubts == []
    return {job.id: job for job in found}


@pytest.mark.parametrize("version", LATER)
def test_a_running_job_knows_its_gpus_on_each_node(version: str) -> None:
    job = jobs(version)[41]
    assert job.state == "RUNNING"
    assert (job.gpus, job.gpu_type, job.cpus, job.memory_gb) == (3, "a100", 16.0, 64.0)
    assert job.hosts == ("a1", "a2")
    assert job.host_gpus == (2, 1)
    assert (job.submit, job.start, job.limit) == (1794801900, 1794801972, 7200)
    assert math.isnan(job.end)
    assert job.reason == ""


@pytest.mark.parametrize("version", LATER)
def test_an_array_is_one_job_until_it_is_split(version: str) -> None:
    rest, task = jobs(version)[42], jobs(version)[43]
    assert (rest.label, rest.tasks, rest.array) == ("42_[3,5,7,9,12]", 5, 42)
    assert rest.pending
    assert math.isnan(rest.start)
    assert (task.label, task.tasks, task.array, task.state) == ("42_1", 1, 42, "COMPLETING")
    assert (task.gpus, rest.gpus) == (1, 1)


@pytest.mark.parametrize("version", LATER)
def test_a_held_job_with_all_its_conditions(version: str) -> None:
    job = jobs(version)[44]
    assert job.held
    assert (job.priority, job.nice, job.restarts) == (0, 100, 1)
    assert math.isnan(job.limit)
    assert math.isnan(job.eligible)
    assert job.dependency == "afterok:41(unfulfilled)"
    assert job.avoids == ("a1",)
    assert job.comment == "dovetail:sla"


@pytest.mark.parametrize("version", LATER)
def test_parts_of_a_heterogeneous_job(version: str) -> None:
    first, second = jobs(version)[45], jobs(version)[46]
    assert (first.label, first.het, first.gpus, first.gpu_type) == ("45+0", 45, 4, "a100")
    assert (second.label, second.het, second.gpus) == ("45+1", 45, 0)
    assert second.partitions == ("gpu", "cpu")
    assert (second.features, second.wants, second.reservation) == ("a100&nvlink", ("a2",), "course")


@pytest.mark.parametrize("version", LATER)
def test_an_ended_job_has_its_end(version: str) -> None:
    job = jobs(version)[47]
    assert (job.state, job.end) == ("FAILED", 1794801820)
    assert not job.running


@pytest.mark.parametrize("version", LATER[1:])
def test_all_later_versions_tell_the_same(version: str) -> None:
    assert repr(jobs(version)) == repr(jobs("23.02"))


def test_jobs_that_slurm_22_05_recorded() -> None:
    found = jobs("22.05")
    assert (found[12].gpus, found[12].nodes, found[12].gpu_type) == (6, 2, "p100")
    assert (found[13].label, found[13].tasks) == ("13_[1-3]", 3)
    assert found[15].label == "14+1"
    assert found[8].held
    assert found[9].reason == "BeginTime"
    assert found[9].eligible > found[9].submit
    assert found[3].restarts == 1
    assert found[7].dependency == "afterok:6(unfulfilled)"
    assert (found[10].nice, found[6].nice) == (100, 0)
    assert found[4].hosts == ("p100-1",)


@pytest.mark.parametrize("version", LATER)
@pytest.mark.parametrize("source", ["sinfo", "rest-nodes"])
def test_nodes_by_name_and_by_group(version: str, source: str) -> None:
    first, second = nodes_of(answer(version, source))
    assert (first.name, first.state, first.flags) == ("a1", "MIXED", frozenset())
    assert (first.gpus, first.gpu_type, first.gpus_used) == (4, "a100", 2)
    assert (first.cpus, first.memory_gb) == (64.0, 500.0)
    assert first.partitions == ("gpu", "cpu")
    assert first.features == {"a100", "nvlink"}
    assert second.flags == {"DRAIN"}
    assert second.reason == "memory errors"
    assert not second.usable


def test_nodes_that_slurm_22_05_recorded() -> None:
    nodes = {node.name: node for node in nodes_of(answer("22.05", "sinfo"))}
    assert (nodes["p100-1"].state, nodes["p100-1"].gpus_used) == ("MIXED", 4)
    assert repr(nodes_of(answer("22.05", "rest-nodes"))) == repr(tuple(nodes.values()))


@pytest.mark.parametrize("version", ALL)
def test_errors_beside_an_empty_list_are_no_empty_queue(version: str) -> None:
    with pytest.raises(Unreachable, match="jobs"):
        answer(version, "squeue-controller-down")


@pytest.mark.parametrize("text", ["", "squeue: error", "[1]", '"x"', "[" * 100_000, "9" * 5000])
def test_answers_that_are_no_json_are_unreadable(text: str) -> None:
    with pytest.raises(Unreadable):
        answer_of(text, "squeue")


def test_an_answer_without_its_list_is_unreadable() -> None:
    with pytest.raises(Unreadable, match="no list 'jobs'"):
        jobs_of({"errors": [], "meta": {}})


@pytest.mark.parametrize(
    "spoil",
    [
        {"job_id": None},
        {"job_state": 3},
        {"nodes": "a[x-y]"},
        {"array_task_string": "1,3,5,..."},
        {"priority": {"set": True}},
    ],
)
def test_a_job_that_cannot_be_read_is_a_doubt_and_the_others_stay(spoil: dict[str, Any]) -> None:
    document = json.loads((SAMPLES / "23.11" / "squeue.json").read_text())
    document["jobs"][1] |= spoil
    found, doubts = jobs_of(document)
    assert len(found) == 6
    assert len(doubts) == 1


def test_numbers_in_both_shapes() -> None:
    assert number_of(5) == 5
    assert number_of({"set": True, "infinite": False, "number": 5}) == 5
    assert number_of({"set": True, "infinite": True, "number": 0}) == math.inf
    assert number_of({"set": False, "infinite": False, "number": 0}, 7) == 7
    assert number_of(None, 7) == 7
