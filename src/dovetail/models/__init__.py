"""Models in service: who is champion, how a challenger takes its place, and the way back.

store = ModelStore(folder)
first, second = (store.add("index", trained) for trained in checkpoints)
store.promote("index", first, None)                              # the first one needs no contest
found = contest(trace, cluster, store.champion("index"), store.folder("index", second))
if found.verdict is ContestVerdict.WON:
    store.promote("index", second, found)                        # refused unless it won
    store.rollback("index", "waits rose")
"""

from __future__ import annotations

from dovetail.models.contest import Contest, ContestConfig, ContestVerdict, contest
from dovetail.models.store import ModelStore, ModelVersion, NotPromoted

__all__ = [
    "Contest",
    "ContestConfig",
    "ContestVerdict",
    "ModelStore",
    "ModelVersion",
    "NotPromoted",
    "contest",
]
