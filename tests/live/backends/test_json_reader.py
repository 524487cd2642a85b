"""Slurm's JSON, as three versions printed it of the same queue."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from dovetail.live.backends.base import Unreachable, Unreadable
from dovetail.live.backends.slurm.json_shapes import answer_of, jobs_of, nodes_of
from dovetail.live.model.snapshot import LiveJob, LiveNode
from dovetail.slurm.json_values import number_of
from tests.live.recordings import VERSIONS, Recorded, rest_answers
from tests.live.recordings.queue import EVIL, REASON

every_version = pytest.mark.parametrize("version", VERSIONS)


def test_three_versions_are_recorded() -> None:
    assert VERSIONS == ["22.05", "24.11", "26.05"]


def jobs(version: str) -> dict[str, LiveJob]:
    """By name; of the array only what still waits."""
    found, doubts = jobs_of(Recorded(version).document("squeue"))
    assert doubts == []
    return {job.name: job for job in found if not (job.name == "array" and job.running)}


@every_version
def test_a_running_job_knows_its_gpus_on_each_node(version: str) -> None:
    job = jobs(version)["wide"]
    assert job.state == "RUNNING"
    assert (job.gpus, job.gpu_type, job.cpus, job.memory_gb) == (3, "p100", 2.0, 200 / 1024)
    assert job.hosts == ("p100-1", "p100-2")
    assert sorted(job.host_gpus) == [1, 2]
    assert job.submit <= job.start < job.submit + 10
    assert job.limit == 7200
    assert math.isnan(job.end)
    assert job.reason == ""


@every_version
def test_an_array_is_one_job_until_it_is_split(version: str) -> None:
    found, _ = jobs_of(Recorded(version).document("squeue"))
    task, rest = sorted((job for job in found if job.name == "array"), key=lambda job: job.tasks)
    assert (rest.label, rest.tasks, rest.array) == (f"{rest.array}_[3,5,7,9]", 4, rest.id)
    assert rest.pending
    assert math.isnan(rest.start)
    assert (task.label, task.tasks, task.array) == (f"{rest.array}_1", 1, rest.id)
    assert (task.state, task.gpus, rest.gpus) == ("RUNNING", 1, 1)


@every_version
def test_a_held_job_with_all_its_conditions(version: str) -> None:
    job, nice = jobs(version)["held"], jobs(version)["nice"]
    assert job.held
    assert (job.priority, nice.nice) == (0, 100)
    assert math.isnan(job.eligible)
    assert job.dependency == f"afterok:{jobs(version)['wide'].id}(unfulfilled)"
    assert job.avoids == ("p100-1",)
    assert job.comment == "dovetail:sla"


@every_version
def test_parts_of_a_heterogeneous_job(version: str) -> None:
    found, _ = jobs_of(Recorded(version).document("squeue"))
    first, second = sorted((job for job in found if job.name == "pair"), key=lambda job: job.label)
    assert (first.label, first.het, first.gpus) == (f"{first.id}+0", first.id, 4)
    assert (second.label, second.het, second.gpus) == (f"{first.id}+1", first.id, 2)


@every_version
def test_what_a_job_asks_for(version: str) -> None:
    found = jobs(version)
    choosy = found["choosy"]
    assert choosy.partitions == ("gpu", "late")
    assert (choosy.features, choosy.wants) == ("p100", ("p100-2",))
    assert found["student"].reservation == "course"
    assert (found["tasks"].gpus, found["tasks"].nodes, found["tasks"].gpu_type) == (6, 2, "p100")
    assert (found["urgent"].qos, found["urgent"].user) == ("urgent", "games")
    assert (found["theirs"].account, found["closed"].partitions) == ("biology", ("late",))
    assert found["later"].eligible > found["later"].submit + 3000
    assert (found["again"].restarts, found["again"].pending) == (1, True)
    assert found[EVIL].gpus == 4


@every_version
def test_an_ended_job_has_its_end(version: str) -> None:
    job = jobs(version)["failed"]
    assert job.state == "FAILED"
    assert job.submit <= job.end < job.submit + 10
    assert not job.running


@every_version
def test_all_that_rest_says_of_a_job_the_programs_say(version: str) -> None:
    told, doubts = jobs_of(json.loads(rest_answers(version)["GET jobs"].text))
    assert doubts == []
    # The scheduler looks at the queue between the two questions.
    steady = {job.name: job._replace(reason="") for job in told if job.name != "array"}
    for name, job in jobs(version).items():
        if name not in ("array", "pair"):
            assert repr(job._replace(reason="")) == repr(steady[name])


def nodes(version: str, source: str) -> dict[str, LiveNode]:
    answer = (
        Recorded(version).document("sinfo")
        if source == "sinfo"
        else json.loads(rest_answers(version)["GET nodes"].text)
    )
    return {node.name: node for node in nodes_of(answer)}


@every_version
@pytest.mark.parametrize("source", ["sinfo", "slurmrestd"])
def test_nodes_by_name_and_by_group(version: str, source: str) -> None:
    found = nodes(version, source)
    assert sorted(found) == ["k80-1", "k80-2", "m40-1", "p100-1", "p100-2"]
    first, drained = found["p100-1"], found["k80-2"]
    assert (first.state, first.gpus, first.gpu_type) == ("MIXED", 4, "p100")
    assert first.gpus_used + found["p100-2"].gpus_used == 3
    assert (first.cpus, first.memory_gb) == (16.0, 125.0)
    assert sorted(first.partitions) == ["gpu", "late"]  # sinfo has an order of its own
    assert first.features == {"p100"}
    assert "DRAIN" in drained.flags
    assert drained.reason == REASON
    assert not drained.usable


@every_version
def test_errors_beside_an_empty_list_are_no_empty_queue(version: str) -> None:
    silent = Recorded(version, "down")
    with pytest.raises(Unreachable, match="squeue: "):
        answer_of(silent.ask("squeue", "--json", "-a", "-t", "all"), "squeue")
    down = rest_answers(version)["controller down"]
    with pytest.raises(Unreachable, match="jobs"):
        answer_of(down.text, "slurmrestd")


@every_version
def test_what_scontrol_says_while_the_controller_is_down_is_never_asked_for(version: str) -> None:
    """From 24.11 on it prints an empty list, no error, and ends with 0."""
    answer = Recorded(version, "down").run("scontrol", "show", "jobs", "--json")
    if answer.code == 0:
        assert json.loads(answer.output)["jobs"] == []
    asked = {question.words[:4] for question in Recorded(version).answers}
    assert ("scontrol", "-d", "-o", "show") in asked  # one running job, after squeue has named it


@pytest.mark.parametrize("text", ["", "squeue: error", "[1]", '"x"', "[" * 100_000, "9" * 5000])
def test_answers_that_are_no_json_are_unreadable(text: str) -> None:
    with pytest.raises(Unreadable):
        answer_of(text, "squeue")


def test_an_answer_without_its_list_is_unreadable() -> None:
    with pytest.raises(Unreadable, match="no list 'jobs'"):
        jobs_of({"errors": [], "meta": {}})


@every_version
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
def test_a_job_that_cannot_be_read_is_a_doubt_and_the_others_stay(
    version: str, spoil: dict[str, Any]
) -> None:
    document = Recorded(version).document("squeue")
    document["jobs"][1] |= spoil
    found, doubts = jobs_of(document)
    assert len(found) == len(document["jobs"]) - 1
    assert len(doubts) == 1


def test_numbers_in_both_shapes() -> None:
    assert number_of(5) == 5
    assert number_of({"set": True, "infinite": False, "number": 5}) == 5
    assert number_of({"set": True, "infinite": True, "number": 0}) == math.inf
    assert number_of({"set": False, "infinite": False, "number": 0}, 7) == 7
    assert number_of(None, 7) == 7
