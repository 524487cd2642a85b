"""What the daemon saw, decided and did: one SQLite file, written by one process, read by many.

>>> import tempfile
>>> from dovetail.live.config import JournalConfig
>>> from dovetail.live.model.mode import Mode
>>> with tempfile.TemporaryDirectory() as folder:
...     config = JournalConfig(path=f"{folder}/journal.sqlite")
...     with Journal.open(config) as journal:  # the only daemon on this file
...         number = journal.record(CycleRecord(60.0, 60.0, Mode.SHADOW, "all is well"))
...         with JournalReader.open(journal.path) as past:  # at the same time, in other processes
...             cycle = past.cycles(last=1)
>>> cycle[0][1].sentence
'all is well'

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
