"""What others ask the journal."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from dovetail.live.guardrails.base import GuardrailOutcome, Verdict
from dovetail.live.journal import Happened, JournalReader
from dovetail.live.journal.decision_log import HEAD
from dovetail.live.ledger import Ledger
from dovetail.live.model.decision import Decision
from dovetail.live.model.mode import Mode
from tests.live.journal.builders import act, change, cycle, open_journal, run

DAY = 86_400.0


def test_waits_are_the_95th_percentile_by_partition_of_jobs_started_in_the_last_days(
    tmp_path: Path,
) -> None:
    runs = [run(n, start=30 * DAY + n, submit=30 * DAY, eligible=30 * DAY) for n in range(101)]
    held = run(500, 30 * DAY + 60, partition="cpu", submit=0.0, eligible=30 * DAY)
    old = run(600, start=DAY)
    with open_journal(tmp_path) as journal:
        journal.record(cycle(31 * DAY), happened=Happened((*runs, held, old)))
        assert journal.past.waits(days=14) == {"gpu": pytest.approx(95.0), "cpu": 60.0}


def test_changes_sent_of_late_count_those_of_a_cycle_that_was_cut_short(tmp_path: Path) -> None:
    with open_journal(tmp_path) as journal:
        for wall in (100.0, 200.0):
            act(journal, change(1), change(2), wall=wall)
            journal.record(cycle(wall + 1))
        Ledger(journal).intend([change(3)], 300.0)  # and then it is killed
    with open_journal(tmp_path) as journal:
        assert journal.past.sent(since=150.0) == ((200.0, 2), (300.0, 1))
        assert journal.past.sent(since=0.0) == ((100.0, 2), (200.0, 2), (300.0, 1))


def test_runs_started_in_one_mode_since_a_time(tmp_path: Path) -> None:
    runs = (
        run(1, 10.0, mode="active"), run(2, 20.0, mode="shadow"),
        run(3, 30.0, mode="active", rank=4, hosts=("n0", "n1"), host_gpus=(8, 4)),
    )  # fmt: skip
    with open_journal(tmp_path) as journal:
        journal.record(cycle(40.0), happened=Happened(runs))
        assert journal.past.started(15.0, Mode.ACTIVE) == (runs[2],)
        assert journal.past.started(15.0) == runs[1:]


def test_cycles_verdicts_and_switches_are_read_back_as_they_were(tmp_path: Path) -> None:
    verdict = Verdict("starvation", GuardrailOutcome.AMENDED, "job 17 waited 3 d")
    with open_journal(tmp_path) as journal:
        number = journal.record(cycle(5.0, "moved 3 jobs"), verdicts=[verdict])
        journal.switched(Mode.SHADOW, "guardrail", "waits grew", 6.0)
        assert journal.past.cycles(last=1) == ((number, cycle(5.0, "moved 3 jobs")),)
        assert journal.past.verdicts(number) == (verdict,)
        (switch,) = journal.past.switches()
        assert (switch.mode, switch.who) == (Mode.SHADOW, "guardrail")


def test_orders_and_reasons_of_every_cycle_are_read_back_also_after_a_restart(
    tmp_path: Path,
) -> None:
    orders = [tuple(range(n, 1500 + n))[::-1] if n % 3 else tuple(range(1400)) for n in range(70)]
    reasons = [{job: f"{job % 7 * (n // 9)} h" for job in order} for n, order in enumerate(orders)]
    for half in (0, 35):
        with open_journal(tmp_path) as journal:
            for n in range(half, half + 35):
                journal.record(cycle(n * 60.0), decision=Decision(orders[n], reasons[n]))
    with open_journal(tmp_path) as journal:
        for n, order in enumerate(orders):
            assert journal.past.order(n + 1) == order
            found = journal.past.reasons(n + 1)
            assert all(found[job] == reasons[n][job] for job in order[:HEAD])


def test_what_was_done_to_a_job_is_told_with_what_became_of_it(tmp_path: Path) -> None:
    with open_journal(tmp_path) as journal:
        act(journal, change(1, after=7))
        act(journal, change(1, after=9), error="Invalid job id")
        Ledger(journal).intend([change(1, after=11)], 0.0)
        told = [(action.after, action.error) for action in journal.past.actions(1)]
        assert told == [(7, ""), (9, "Invalid job id"), (11, None)]


def begun_before_names(folder: Path) -> Path:
    """A journal with one run, as it was written when nobody recorded names of jobs."""
    with open_journal(folder) as journal:
        journal.record(cycle(40.0), happened=Happened((run(1, 10.0),)))
    path = folder / "journal.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("ALTER TABLE starts DROP COLUMN name")
    connection.commit()
    connection.close()
    return path


def test_a_journal_of_before_names_of_jobs_is_read_as_it_is(tmp_path: Path) -> None:
    path = begun_before_names(tmp_path)
    before = path.read_bytes()
    with JournalReader.open(path) as past:
        assert past.started(0.0) == (run(1, 10.0),)
        assert past.unended() == (run(1, 10.0),)
        assert list(past.ended(0.0)) == []
    assert path.read_bytes() == before


def test_a_journal_of_before_names_of_jobs_is_gone_on_with(tmp_path: Path) -> None:
    begun_before_names(tmp_path)
    named = run(2, 50.0, name="train-bert; DROP TABLE starts")
    with open_journal(tmp_path) as journal:
        journal.record(cycle(60.0), happened=Happened((named,)))
        assert journal.past.started(0.0) == (run(1, 10.0), named)
        assert journal.past.unended() == (run(1, 10.0), named)
    with open_journal(tmp_path) as journal:
        assert journal.past.started(0.0) == (run(1, 10.0), named)
