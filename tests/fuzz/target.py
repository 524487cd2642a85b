"""What a target is, and the replay that accepted input has to survive."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

from dovetail import api
from dovetail.domain.cluster import Cluster
from dovetail.domain.trace import Trace

BACKFILLS = ("none", "easy", "conservative")


@dataclass(frozen=True, slots=True)
class Target:
    """Something that reads input; `run` spoils and reads one case in an empty folder."""

    name: str
    run: Callable[[Random, Path], None]


def replay(trace: Trace, cluster: Cluster, order: str, random: Random) -> None:
    """A short simulation; only our own errors may come out of it."""
    part = trace if len(trace) <= 200 else trace.slice(0, 200)
    schedule = api.simulate(
        part, cluster, order, backfill=random.choice(BACKFILLS), estimates="exact"
    )
    api.summary(schedule)
