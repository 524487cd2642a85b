"""Whatever keeps the journal from being written is said in words, and nothing is acted on."""

from __future__ import annotations

import os
import resource
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from dovetail.live.journal import JournalBusy, JournalError, JournalReader
from dovetail.live.ledger import Ledger
from tests.live.journal.builders import act, change, cycle, open_journal


@contextmanager
def files_no_larger_than(size: int) -> Iterator[None]:
    """What a full disk does, done by the kernel: a write beyond fails."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_write_that_the_system_refuses_is_an_error_and_leaves_no_half_of_it(
    tmp_path: Path,
) -> None:
    with open_journal(tmp_path) as journal:
        act(journal, change(1))
        log = tmp_path / "journal.sqlite-wal"
        changes = [change(job) for job in range(2, 2000)]
        with (
            files_no_larger_than(log.stat().st_size + 8192),
            pytest.raises(JournalError, match=r"journal\.sqlite"),
        ):
            Ledger(journal).intend(changes, 0.0)
        assert list(journal.past.touched()) == [1]
        act(journal, change(2))  # the disk has space again
        assert list(journal.past.touched()) == [1, 2]
    with sqlite3.connect(tmp_path / "journal.sqlite") as raw:
        assert raw.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    raw.close()


def test_a_full_database_says_that_it_is_full(tmp_path: Path) -> None:
    with open_journal(tmp_path) as journal:
        (pages,) = journal.past._connection.execute("PRAGMA page_count").fetchone()
        journal.past._connection.execute(f"PRAGMA max_page_count = {pages + 2}")
        with pytest.raises(JournalError, match="full; free some space"):
            Ledger(journal).intend([change(job) for job in range(2000)], 0.0)
        assert journal.past.touched() == ()


def test_a_file_that_another_program_holds_is_an_error(tmp_path: Path) -> None:
    with open_journal(tmp_path) as journal:
        other = sqlite3.connect(tmp_path / "journal.sqlite", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(JournalError, match="locked; another program holds it"):
            Ledger(journal).intend([change(1)], 0.0)
        other.execute("ROLLBACK")
        other.close()
        act(journal, change(1))


def test_a_second_daemon_is_refused_and_told_who_has_the_journal(tmp_path: Path) -> None:
    with open_journal(tmp_path), pytest.raises(JournalBusy, match=f"process {os.getpid()}"):
        open_journal(tmp_path)
    open_journal(tmp_path).close()


def test_a_folder_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match="nowhere"):
        open_journal(tmp_path / "nowhere")


def test_somebody_elses_database_is_left_alone(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "journal.sqlite") as other:
        other.execute("CREATE TABLE recipes (name TEXT)")
    other.close()
    before = (tmp_path / "journal.sqlite").read_bytes()
    with pytest.raises(JournalError, match="no journal of Dovetail"):
        open_journal(tmp_path)
    assert (tmp_path / "journal.sqlite").read_bytes() == before


def test_a_journal_of_a_later_version_is_left_alone(tmp_path: Path) -> None:
    open_journal(tmp_path).close()
    with sqlite3.connect(tmp_path / "journal.sqlite") as raw:
        raw.execute("PRAGMA user_version = 99")
    raw.close()
    with pytest.raises(JournalError, match="version 99"):
        open_journal(tmp_path)


def _truncated(whole: bytes) -> bytes:
    return whole[: len(whole) // 2]


def _overwritten(whole: bytes) -> bytes:
    """From the second page on: the header is as it was."""
    return whole[:4096] + bytes(b ^ 0x5A for b in whole[4096 : 4 * 4096]) + whole[4 * 4096 :]


def _garbage(whole: bytes) -> bytes:
    return b"\xff" * len(whole)


def _empty(whole: bytes) -> bytes:
    return b""


@pytest.mark.parametrize("damage", [_truncated, _overwritten, _garbage, _empty])
def test_a_damaged_journal_is_kept_aside_and_a_new_one_says_so_until_told_otherwise(
    tmp_path: Path, damage: Callable[[bytes], bytes], caplog: pytest.LogCaptureFixture
) -> None:
    with open_journal(tmp_path) as journal:
        act(journal, *(change(job) for job in range(500)))
    path = tmp_path / "journal.sqlite"
    damaged = damage(path.read_bytes())
    path.write_bytes(damaged)
    with open_journal(tmp_path) as journal:
        aside = journal.recovered_from
        assert aside is not None
        assert aside.read_bytes() == damaged
        assert str(aside) in caplog.text
        assert journal.past.touched() == ()
        act(journal, change(1))
    with open_journal(tmp_path) as journal:  # killed before it could set jobs back, say
        assert journal.recovered_from == aside
        journal.recovery_done(0.0)
        assert journal.recovered_from is None
    with open_journal(tmp_path) as journal:
        assert journal.recovered_from is None
        assert list(journal.past.touched()) == [1]


def test_rows_can_be_neither_changed_nor_removed(tmp_path: Path) -> None:
    with open_journal(tmp_path) as journal:
        act(journal, change(1))
        journal.record(cycle(0.0))
    raw = sqlite3.connect(tmp_path / "journal.sqlite")
    for table in ("actions", "results", "cycles"):
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            raw.execute(f"DELETE FROM {table}")
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        raw.execute("UPDATE actions SET before = '9'")
    raw.close()


def test_others_read_while_the_daemon_writes_and_cannot_write_themselves(tmp_path: Path) -> None:
    with open_journal(tmp_path) as journal, JournalReader.open(journal.path) as past:
        act(journal, change(1))
        assert list(past.touched()) == [1]
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            past._connection.execute("INSERT INTO recoveries VALUES (1, 1, 1, '')")


def test_a_journal_that_is_not_there_or_no_journal_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match="no such journal"):
        JournalReader.open(tmp_path / "journal.sqlite")
    (tmp_path / "letter").write_text("Dear reader, " * 100)
    with pytest.raises(JournalError, match="letter"):
        JournalReader.open(tmp_path / "letter")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_whoever_may_only_read_the_folder_can_read_the_journal_of_a_stopped_daemon(
    tmp_path: Path,
) -> None:
    with open_journal(tmp_path) as journal:
        act(journal, change(1))
    nobody = 65534
    for folder in (tmp_path, *tmp_path.parents[:3]):
        if folder.owner() == "root" and folder != Path("/tmp"):
            folder.chmod(0o755)
    journal.path.chmod(0o644)
    os.seteuid(nobody)
    try:
        with JournalReader.open(journal.path) as past:
            assert list(past.touched()) == [1]
    finally:
        os.seteuid(0)
