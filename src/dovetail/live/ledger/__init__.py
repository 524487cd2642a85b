"""The one account of what we have set on which jobs: in the journal, and nowhere else.

>>> import tempfile
>>> from dovetail.live.config import JournalConfig
>>> from dovetail.live.journal import Journal
>>> from dovetail.live.model.decision import Change, Knob, Result
>>> with tempfile.TemporaryDirectory() as folder:
...     with Journal.open(JournalConfig(path=f"{folder}/journal.sqlite")) as journal:
...         ledger = Ledger(journal)
...         change = Change(17, "17", Knob.SITE_FACTOR, 0, 120, "goes first")
...         intents = ledger.intend([change], wall=0.0)  # on disk when it returns: now send
...         ledger.settle(intents, [Result(change)], wall=1.0)
...         held = ledger.view.held(Knob.SITE_FACTOR)
>>> held
{17: 120}

An entry is opened before a change is sent, and closed only by a result that was read back from
Slurm, or once Slurm says that the job is gone or has another value. What stands in memory is what
the file says, read at the start and changed only after each write; `kill -9` at any moment loses
nothing.
"""

from __future__ import annotations

from dovetail.live.ledger.entry import Key, LedgerEntry, LedgerView
from dovetail.live.ledger.ledger import Intents, Ledger

__all__ = ["Intents", "Key", "Ledger", "LedgerEntry", "LedgerView"]
