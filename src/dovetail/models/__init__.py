"""Models in service: who is champion, how a challenger takes its place, and the way back.

store = ModelStore(Path("/var/lib/dovetail/models"))
version = store.add("index", Path("trained"))                    # a challenger
found = contest(trace, cluster, store.champion("index"), store.folder("index", version))
store.promote("index", version, found)                           # refused unless it won
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
