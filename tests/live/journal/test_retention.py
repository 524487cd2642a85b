"""The journal stays within its limits, and keeps what is still needed."""

from __future__ import annotations

import random
import sqlite3
from pathlib import Path

import pytest

from dovetail.live.journal import Happened
from dovetail.live.journal.records import Ended
from dovetail.live.ledger import Ledger
from dovetail.live.model.decision import Decision
from dovetail.live.model.mode import Mode
from dovetail.live.model.snapshot import LiveNode
from tests.live.journal.builders import act, at, change, cycle, open_journal, run, settle

HOUR = 3600.0


def test_a_flood_of_changes_cannot_make_it_larger_than_allowed(tmp_path: Path) -> None:
    rng = random.Random(1)
    first: dict[int, int] = {}
    with open_journal(tmp_path, max_mb=2.0) as journal:
        ledger = Ledger(journal)
        for number in range(60):
            jobs = rng.sample(range(1, 5000), 1000)
            for job in jobs:
                first.setdefault(job, number)
            settle(ledger, *(change(job, before=number, after=-1) for job in jobs))
            why = {job: f"because of {rng.random()}" for job in jobs}
            journal.record(cycle(number * 60.0), decision=Decision(tuple(jobs), why))
            assert journal.path.stat().st_size < 2_300_000
            assert (tmp_path / "journal.sqlite-wal").stat().st_size < 9_000_000
        kept = journal.past.cycles(last=1000)
        assert 2 <= len(kept) < 60
        assert journal.past.order(kept[-1][0]) == tuple(jobs)
        assert dict(journal.past.reasons(kept[-1][0])) == why
        assert journal.past.order(kept[0][0])
        entries = Ledger(journal).view.entries.values()
        assert {entry.job: entry.before for entry in entries} == first


def test_old_cycles_go_and_what_is_still_open_stays(tmp_path: Path) -> None:
    old = [LiveNode("n0", "IDLE", gpus=8)]
    with open_journal(tmp_path, keep_days=3.0) as journal:
        act(journal, change(1), change(2))
        act(journal, change(2, after=0))
        journal.switched(Mode.ACTIVE, "ann", "to try it", 0.0)
        long, short = run(17, 0.0), run(18, 0.0)
        ended = (Ended(18, 0.0, 60.0, "COMPLETED"),)
        journal.record(cycle(0.0), at(0.0, nodes=old), None, (), Happened((long, short), ended))
        for hour in range(1, 24 * 12):
            journal.record(cycle(hour * HOUR), at(hour * HOUR, nodes=old))
        # Chapters begin every 60 hours here; when the last one began, at hour 240, the one of
        # hour 120 was the last to have begun more than three days before.
        assert journal.past.cycles(last=1000)[0][1].wall == 120 * HOUR
        assert list(journal.past.touched()) == [1]
        assert len(journal.past.actions(1)) == 1
        assert journal.past.actions(2) == ()
        assert journal.past.unended() == (long,)
        assert list(journal.past.ended(0.0)) == []
        assert [shape.nodes[0].name for _, shape in journal.past.shapes()] == ["n0"]
        assert [switch.who for switch in journal.past.switches()] == ["ann"]
        act(journal, change(1, after=0))  # still known well enough to be set back
        assert journal.past.touched() == ()


def test_a_run_counts_as_long_as_its_end_is_recent(tmp_path: Path) -> None:
    with open_journal(tmp_path, keep_days=3.0) as journal:
        journal.record(cycle(0.0), happened=Happened((run(17, 0.0),)))
        for hour in range(1, 24 * 12):
            gone = (Ended(17, 0.0, 240 * HOUR, "TIMEOUT"),) if hour == 24 * 11 else ()
            journal.record(cycle(hour * HOUR), happened=Happened((), gone))
        (found,) = journal.past.ended(0.0)
        assert (found.run.start, found.state) == (0.0, "TIMEOUT")


def test_deleting_is_refused_again_after_a_cut(tmp_path: Path) -> None:
    with open_journal(tmp_path, keep_days=1.0) as journal:
        for hour in range(24 * 8):
            journal.record(cycle(hour * HOUR))
        assert len(journal.past.cycles(last=1000)) < 24 * 8
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            journal.past._connection.execute("DELETE FROM cycles")


def test_the_value_that_a_job_has_now_is_known_however_old_it_is(tmp_path: Path) -> None:
    with open_journal(tmp_path, keep_days=3.0) as journal:
        act(journal, change(1, after=7))
        act(journal, change(1, after=9, before=7))
        act(journal, change(1, after=11, before=9), error="no answer")
        for hour in range(24 * 12):
            journal.record(cycle(hour * HOUR))
        assert journal.past.cycles(last=1000)[0][1].wall > 0.0
        (entry,) = Ledger(journal).view.entries.values()
        assert (entry.before, entry.held) == (0, 9)
        assert {9, 11} <= entry.asked


def test_a_number_is_never_used_twice_though_its_action_is_gone(tmp_path: Path) -> None:
    with open_journal(tmp_path, keep_days=3.0) as journal:
        act(journal, *(change(job) for job in range(1, 10)))
        for hour in range(200):
            if hour == 120:
                Ledger(journal).let_go(range(1, 10), hour * HOUR, "the job is gone")
            journal.record(cycle(hour * HOUR))
        assert journal.past.actions(*range(1, 10)) == ()
    with open_journal(tmp_path, keep_days=3.0) as journal:
        act(journal, *(change(job) for job in range(1, 10)))
        assert len(journal.past.touched()) == 9
