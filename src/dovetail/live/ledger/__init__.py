"""The one account of what we have set on which jobs: in the journal, and nowhere else.

    ledger = Ledger(journal)
    intents = ledger.intend(changes, wall)       # on disk when it returns: now send
    ledger.settle(intents, results, wall)        # what is as before again is closed
    ledger.view.factors(snapshot)                # what is ours of what Slurm shows
    restore(backend, ledger.view.entries, snapshot, send)

An entry is opened before a change is sent, and closed only by a result that was read back from
Slurm, or once Slurm says that the job is gone or has another value. What stands in memory is what
the file says, read at the start and changed only after each write; `kill -9` at any moment loses
nothing.
"""

from __future__ import annotations

from dovetail.live.ledger.entry import Key, LedgerEntry, LedgerView
from dovetail.live.ledger.ledger import Intents, Ledger

__all__ = ["Intents", "Key", "Ledger", "LedgerEntry", "LedgerView"]
