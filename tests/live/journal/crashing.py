"""A daemon that is killed while it writes, over and over, on one journal.

Run as a program: `crashing.py FOLDER ROUNDS SEED`. A child acts as fast as it can; the parent kills
it at a random moment, and then checks that every change that reached the "cluster" (a file) had
been written down before. Ends with an error where that is not so.
"""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import sys
import time
from pathlib import Path

from dovetail.live.journal import JournalReader
from dovetail.live.ledger import Ledger
from dovetail.live.model.decision import Decision
from dovetail.live.model.decision import Result as Done
from tests.live.journal.builders import change, cycle, open_journal

JOBS = 300


def write_for_ever(folder: Path, seed: int) -> None:
    """The daemon: intents, then the cluster, then results and the cycle."""
    rng = random.Random(seed)
    cluster = os.open(folder / "applied", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    journal = open_journal(folder, max_mb=3.0)
    ledger = Ledger(journal)
    (folder / "ready").touch()
    while True:
        jobs = rng.sample(range(1, 1000), JOBS)
        changes = [change(job, after=rng.choice([0, 5, 9])) for job in jobs]
        intents = ledger.intend(changes, 1.0)
        os.write(cluster, f"{intents.first} {len(changes)}\n".encode())
        ledger.settle(intents, [Done(sent) for sent in changes], 2.0)
        journal.record(cycle(2.0), decision=Decision(tuple(jobs), dict.fromkeys(jobs, "so")))


def check(folder: Path) -> int:
    """Everything that was applied was written down; returns how much that is."""
    path = folder / "journal.sqlite"
    with sqlite3.connect(path) as raw:
        assert raw.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        last = raw.execute("SELECT coalesce(max(id), 0) FROM actions").fetchone()[0]
        numbers = {row[0] for row in raw.execute("SELECT id FROM actions")}
        first_kept = raw.execute(
            "SELECT coalesce(min(id), 0) FROM actions WHERE cycle >= (SELECT min(id) FROM cycles)"
        ).fetchone()[0]
    raw.close()
    applied = 0
    for line in (folder / "applied").read_text().splitlines():
        first, count = map(int, line.split())
        applied += count
        assert first + count - 1 <= last, f"applied {first}..., but the last intent is {last}"
        wanted = set(range(max(first, first_kept), first + count))
        assert wanted <= numbers, f"applied {first}..., but not all of it is written down"
    with JournalReader.open(path) as past:
        assert len(set(past.touched())) == len(past.touched())
    with open_journal(folder, max_mb=3.0) as journal:
        assert journal.recovered_from is None
    return applied


def main(folder: Path, rounds: int, seed: int) -> None:
    rng = random.Random(seed)
    for number in range(rounds):
        (folder / "ready").unlink(missing_ok=True)
        child = os.fork()
        if child == 0:
            write_for_ever(folder, number)
        while not (folder / "ready").exists():
            time.sleep(0.001)
        time.sleep(rng.random() * 0.15)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        applied = check(folder)
    print(f"{applied} changes applied, all of them written down")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
