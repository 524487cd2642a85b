"""squeue's rows: whatever stands in a name, no other job is touched by it."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail.live.backends.base import Unreadable
from dovetail.live.backends.slurm.job_rows import JobRows
from dovetail.live.model.snapshot import LiveJob
from tests.live.recordings import VERSIONS, Recorded
from tests.live.recordings.queue import EVIL


def printed(rows: JobRows, jobs: list[dict[str, str]]) -> tuple[str, str]:
    """What squeue prints when asked as JobRows wants it, and the token of the question."""
    token, words = rows.question()
    fields = [field.partition(":") for field in words[-1].split(",")]
    lines = ["".join(name.upper() + suffix for name, _, suffix in fields)]
    lines += [
        "".join(job.get(name, DEFAULTS[name]) + suffix for name, _, suffix in fields)
        for job in jobs
    ]
    return "".join(f"{line}\n" for line in lines), token


RECORDED = {row["Name"]: row for row in Recorded("22.05").job_rows()}
DEFAULTS = RECORDED["theirs"]
"""A job that waits, as Slurm printed it."""


def parsed(rows: JobRows, *jobs: dict[str, str]) -> tuple[list[LiveJob], list[str]]:
    return rows.parse(*printed(rows, list(jobs)))


def recorded(version: str) -> dict[str, LiveJob]:
    answers, rows = Recorded(version), JobRows()
    token, words = rows.question()
    jobs, doubts = rows.parse(answers.said("squeue", *words), token)
    assert doubts == []
    assert len(jobs) == len(answers.job_rows())
    return {job.name: job for job in jobs}


@pytest.mark.parametrize("version", VERSIONS)
def test_a_row_becomes_a_job(version: str) -> None:
    jobs = recorded(version)
    tasks, held = jobs["tasks"], jobs["held"]
    assert (tasks.gpus, tasks.gpu_type, tasks.nodes, tasks.cpus) == (6, "p100", 2, 2.0)
    assert tasks.memory_gb == 200 / 1024
    assert (tasks.state, tasks.label, tasks.limit) == ("PENDING", str(tasks.id), 3600)
    assert jobs["choosy"].partitions == ("gpu", "late")
    assert (held.comment, held.held, jobs["nice"].nice) == ("dovetail:sla", True, 100)
    assert jobs["frozen"].priority == 4_000_000
    assert jobs[EVIL].gpus == 4


@pytest.mark.parametrize("version", VERSIONS)
def test_a_pending_job_has_no_start_and_a_running_one_no_end(version: str) -> None:
    jobs = recorded(version)
    waits, runs, ended = jobs["first"], jobs["wide"], jobs["failed"]
    assert math.isnan(waits.start)
    assert math.isnan(waits.end)
    assert runs.start >= runs.submit
    assert math.isnan(runs.end)
    assert runs.hosts == ("p100-1", "p100-2")
    assert ended.end >= ended.start


def test_a_job_that_waits_to_be_requeued_is_pending() -> None:
    (job,), _ = parsed(JobRows(), {"State": "REQUEUE_HOLD", "PriorityLong": "0"})
    assert job.pending
    assert job.held


hostile = st.text(
    st.one_of(
        st.sampled_from("\x1e\x1f\n\r#,:|'\"\x00\x1b[\u2028é"),
        st.characters(exclude_categories=["Cs"]),
    ),
    max_size=1024,
)


@given(name=hostile, comment=hostile)
def test_no_name_breaks_or_forges_a_row(name: str, comment: str) -> None:
    before, evil, after = {"JobID": "1"}, {"JobID": "2"}, {"JobID": "3"}
    evil |= {"Name": name, "admin_comment": comment}
    jobs, doubts = parsed(JobRows(), before, evil, after)
    assert [job.id for job in jobs] == [1, 2, 3]
    assert doubts == []
    assert jobs[1].name == name
    assert jobs[1][2:4] == jobs[0][2:4] == jobs[2][2:4]


@given(token=st.from_regex(r"#[A-Za-z0-9_-]{12}", fullmatch=True))
def test_yesterdays_token_in_a_name_forges_nothing(token: str) -> None:
    forged = f"x{token}(null){token}{token}\n666\x1f666\x1fPENDING"
    jobs, doubts = parsed(JobRows(), {"Name": forged}, {"JobID": "8"})
    assert [job.id for job in jobs] == [int(DEFAULTS["JobID"]), 8]
    assert doubts == []


@given(field=st.sampled_from(sorted(DEFAULTS)), junk=hostile)
def test_junk_in_any_field_spoils_at_most_its_own_row(field: str, junk: str) -> None:
    jobs, doubts = parsed(JobRows(), {"JobID": "1"}, {field: junk}, {"JobID": "3"})
    assert jobs[0].id == 1
    assert jobs[-1].id == 3
    assert len(jobs) + len(doubts) == 3


def test_a_row_that_cannot_be_read_is_a_doubt_that_is_safe_to_print() -> None:
    jobs, doubts = parsed(JobRows(), {"PriorityLong": "\x1b[31mhigh"}, {"JobID": "8"})
    assert [job.id for job in jobs] == [8]
    (doubt,) = doubts
    assert f"job {DEFAULTS['JobID']}" in doubt
    assert "\x1b" not in doubt


def test_output_that_ends_in_the_middle_of_a_row_is_a_doubt() -> None:
    rows = JobRows()
    text, token = printed(rows, [{"JobID": "1"}, {"JobID": "2"}])
    jobs, doubts = rows.parse(text[:-40], token)
    assert [job.id for job in jobs] == [1]
    assert len(doubts) == 1


@given(st.text(max_size=300))
def test_garbage_is_never_taken_for_an_empty_queue(text: str) -> None:
    rows = JobRows()
    token, _ = rows.question()
    with pytest.raises(Unreadable, match="no header"):
        rows.parse(text, token)


def test_an_empty_queue_has_its_header() -> None:
    assert parsed(JobRows()) == ([], [])


def test_a_second_reading_tells_of_changes_and_forgets_what_is_gone() -> None:
    rows = JobRows()
    first, _ = parsed(rows, {"JobID": "1"}, {"JobID": "2"}, {"JobID": "3"})
    second, _ = parsed(rows, {"JobID": "2", "Reason": "Resources"}, {"JobID": "3"})
    assert [(job.id, job.reason) for job in second] == [(2, "Resources"), (3, "Priority")]
    assert second[1] is first[2]
    third, _ = parsed(rows, {"JobID": "2", "Name": "other"})
    assert [(job.id, job.name) for job in third] == [(2, "other")]
    assert len(rows._rows) == 1


def test_a_thousand_readings_keep_no_more_than_the_last_ones() -> None:
    rows = JobRows()
    for number in range(3000):
        parsed(rows, {"Name": f"job {number}"})
    assert len(rows._rows) == 1
    assert len(rows._lasting) <= 1003


def test_another_priority_alone_is_seen() -> None:
    rows = JobRows()
    parsed(rows, {"JobID": "1"}, {"JobID": "2"})
    jobs, _ = parsed(rows, {"JobID": "1", "PriorityLong": "7"}, {"JobID": "2"})
    fresh, _ = parsed(JobRows(), {"JobID": "1", "PriorityLong": "7"}, {"JobID": "2"})
    assert jobs == fresh


def with_priority(number: str, priority: str) -> dict[str, str]:
    return {"JobID": number, "PriorityLong": priority}


def test_a_job_that_sprio_tells_of_stays_the_same_object_whatever_its_priority() -> None:
    rows, told = JobRows(), {1: object(), 2: object()}
    before, _ = rows.parse(*printed(rows, [with_priority("1", "70"), with_priority("2", "70")]))
    after, _ = rows.parse(
        *printed(rows, [with_priority("1", "71"), with_priority("2", "70")]), lambda: told
    )
    assert after[0] is before[0]
    assert after[1] is before[1]


@given(
    st.lists(
        st.dictionaries(
            st.sampled_from("1234"), st.sampled_from(["0", "70", "71", "high", ""]), min_size=1
        ),
        min_size=2,
        max_size=5,
    ),
    st.sets(st.integers(1, 4)),
)
def test_whoever_sprio_tells_of_who_is_held_and_all_else_is_as_if_read_anew(
    answers: list[dict[str, str]], told: set[int]
) -> None:
    kept = JobRows()
    for answer in answers:
        shown = [with_priority(number, priority) for number, priority in answer.items()]
        jobs, doubts = kept.parse(*printed(kept, shown), lambda: dict.fromkeys(told))
        fresh, fresh_doubts = parsed(JobRows(), *shown)
        assert doubts == fresh_doubts
        assert [job.held for job in jobs] == [job.held for job in fresh]
        for job, anew in zip(jobs, fresh, strict=True):
            assert job == anew or (job.id in told and job._replace(priority=anew.priority) == anew)
