"""What the daemon saw, decided and did: one SQLite file, written by one process, read by many.

    with Journal.open(config.journal) as journal:      # the only daemon on this file
        intents = journal.intend(changes, wall)        # on disk when it returns: now act
        journal.settle(intents, backend.apply(changes), wall)
        journal.record(cycle, snapshot, decision, verdicts, outcomes.update(snapshot))

    with JournalReader.open(path) as past:                   # at the same time, in other processes
        past.touched(), past.waits(days=14), past.order(cycle)
        schedule = recorded_schedule(past, since, until)   # dovetail.live.journal.replay

No journal, no action: whatever keeps a record from being written raises JournalError, and a change
may be sent only after `intend` has returned.
"""

from __future__ import annotations

from dovetail.live.journal.errors import JournalBusy, JournalError
from dovetail.live.journal.outcomes import Outcomes
from dovetail.live.journal.reader import JournalReader
from dovetail.live.journal.records import CycleRecord, EndedRun, Happened, RecordedRun
from dovetail.live.journal.writer import Journal

__all__ = [
    "CycleRecord",
    "EndedRun",
    "Happened",
    "Journal",
    "JournalBusy",
    "JournalError",
    "JournalReader",
    "Outcomes",
    "RecordedRun",
]
