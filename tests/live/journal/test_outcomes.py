"""Starts and ends from successive readings of the queue."""

from __future__ import annotations

from pathlib import Path

from dovetail.live.journal import Happened, Outcomes
from dovetail.live.journal.records import GONE, REQUEUED, Ended
from dovetail.live.ledger import Ledger
from dovetail.live.model.mode import Mode
from tests.live.journal.builders import act, at, change, cycle, open_journal, running, waiting


def test_a_job_that_vanishes_ended_when_it_was_last_seen() -> None:
    outcomes = Outcomes()
    outcomes.update(at(0.0, waiting(1)))
    (started,) = outcomes.update(at(60.0, running(1, 30.0))).started
    assert started.start == 30.0
    assert outcomes.update(at(120.0, running(1, 30.0))) == Happened()
    assert outcomes.update(at(180.0)).ended == (Ended(1, 30.0, 120.0, GONE),)


def test_slurms_own_end_and_state_are_taken_while_it_still_shows_them_and_only_once() -> None:
    outcomes = Outcomes()
    outcomes.update(at(60.0, running(1, 30.0)))
    over = running(1, 30.0, state="FAILED", end=75.0)
    assert outcomes.update(at(120.0, over)).ended == (Ended(1, 30.0, 75.0, "FAILED"),)
    assert outcomes.update(at(180.0, over)) == Happened()
    assert outcomes.update(at(240.0)) == Happened()


def test_a_job_that_came_and_went_between_two_readings_is_recorded() -> None:
    outcomes = Outcomes()
    outcomes.update(at(0.0))
    over = running(1, 10.0, state="COMPLETED", end=20.0)
    happened = outcomes.update(at(60.0, over))
    assert [run.start for run in happened.started] == [10.0]
    assert happened.ended == (Ended(1, 10.0, 20.0, "COMPLETED"),)


def test_jobs_that_ended_before_the_first_look_are_not_told_a_second_time() -> None:
    over = running(1, 10.0, state="COMPLETED", end=20.0)
    assert Outcomes().update(at(60.0, over)) == Happened()


def test_a_requeued_job_has_one_record_for_each_of_its_runs() -> None:
    outcomes = Outcomes()
    outcomes.update(at(0.0, running(1, 0.0)))
    (end,) = outcomes.update(at(60.0, waiting(1, restarts=1))).ended
    assert (end, end.left) == (Ended(1, 0.0, 0.0, REQUEUED), False)
    assert [
        run.start for run in outcomes.update(at(120.0, running(1, 90.0, restarts=1))).started
    ] == [90.0]
    again = outcomes.update(at(180.0, running(1, 150.0, restarts=2)))  # requeued and started since
    assert again.ended == (Ended(1, 90.0, 120.0, REQUEUED),)
    assert [run.start for run in again.started] == [150.0]


def test_each_task_that_is_split_off_an_array_has_its_own_record_and_the_arrays_rank() -> None:
    outcomes = Outcomes()
    rest = waiting(17, label="17_[2-9]", array=17, tasks=8)
    outcomes.update(at(0.0, waiting(17, label="17_[1-9]", array=17, tasks=9)))
    outcomes.decided(Mode.ACTIVE, [5, 17])
    (task,) = outcomes.update(at(60.0, rest, running(18, 50.0, label="17_1", array=17))).started
    assert (task.job, task.label, task.rank, task.mode) == (18, "17_1", 1, "active")


def test_a_job_cancelled_while_waiting_is_gone_without_a_start() -> None:
    outcomes = Outcomes()
    outcomes.update(at(0.0, waiting(1), waiting(2)))
    cancelled = waiting(1, state="CANCELLED", end=30.0)
    first, second = outcomes.update(at(60.0, cancelled)).ended
    assert (first.job, first.state, first.start == first.start) == (1, "CANCELLED", False)
    assert (second.job, second.state) == (2, GONE)


def test_a_new_daemon_finds_out_what_ended_while_none_was_there(tmp_path: Path) -> None:
    with open_journal(tmp_path) as journal:
        outcomes = Outcomes.resume(journal.past)
        act(journal, change(1), change(2), change(3))
        reading = at(60.0, running(1, 30.0), waiting(2), waiting(3))
        journal.record(cycle(60.0), reading, happened=outcomes.update(reading))
    with open_journal(tmp_path) as journal:
        outcomes = Outcomes.resume(journal.past)
        reading = at(9000.0, waiting(3))
        happened = outcomes.update(reading)
        assert [(end.job, end.end) for end in happened.ended] == [(1, 60.0), (2, 60.0)]
        journal.record(cycle(9000.0), reading, happened=happened)
        Ledger(journal).let_go([end.job for end in happened.ended], 9000.0, "the job is gone")
        assert list(journal.past.touched()) == [3]
        assert [run.run.job for run in journal.past.ended(0.0)] == [1]
        assert journal.past.unended() == ()
