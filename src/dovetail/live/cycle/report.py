"""What one cycle of the daemon did: for the journal's sentence and the metrics."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from operator import itemgetter
from typing import NamedTuple

from dovetail.live.guardrails.base import Verdict
from dovetail.live.guardrails.slurm_order import Moved
from dovetail.live.model.mode import Mode
from dovetail.live.model.snapshot import LiveJob, Snapshot

_REQUEST = itemgetter(*map(LiveJob._fields.index, ("partitions", "tasks", "gpus")))


class Times(NamedTuple):
    """Seconds that the parts of a cycle took; NaN: the cycle did not come to it."""

    read: float = math.nan
    decide: float = math.nan
    guard: float = math.nan
    act: float = math.nan
    total: float = math.nan


class Load(NamedTuple):
    """What waits and runs in one partition; a job that waits for several counts in its first."""

    pending_jobs: int = 0
    pending_gpus: int = 0
    running_jobs: int = 0
    running_gpus: int = 0
    wait_p50: float = math.nan  # seconds, of jobs that started of late
    wait_p95: float = math.nan


class Waits(NamedTuple):
    """Quantiles of the waits of jobs that started of late, seconds."""

    p50: float
    p95: float


@dataclass(frozen=True)
class CycleReport:
    """Everything that is told about one cycle."""

    mode: Mode
    sentence: str  # what a person reads
    times: Times = field(default_factory=Times)
    snapshot_age: float = 0.0  # seconds since the last good snapshot, at the end of the cycle
    partitions: Mapping[str, Load] = field(default_factory=dict)
    managed: int = 0  # jobs in the guarded order
    untouched: Mapping[str, int] = field(default_factory=dict)  # class of reason -> jobs
    unexpressed: Mapping[str, int] = field(default_factory=dict)  # wish -> jobs against it
    moved: Moved = field(default_factory=lambda: Moved(0.0, 0))  # guarded order against Slurm's own
    verdicts: tuple[Verdict, ...] = ()
    sent: int = 0  # changes, the failed ones included
    failed: int = 0
    trouble: str = ""  # what went wrong and what to do about it; empty: nothing
    fell_back: bool = False  # active mode was left, not by an operator
    budget_spent: float = 0.0  # part of the hour's changes
    twin_difference: float = math.nan  # last comparison: mean wait here / with Slurm alone - 1
    twin_error: float = math.nan  # the twin's mean wait / the real one - 1, over the same time
    model_drift: float = math.nan  # how far recent jobs are from those that the model learned from


def loads(snapshot: Snapshot, waits: Mapping[str, Waits]) -> Mapping[str, Load]:
    """Partition -> its load; partitions without jobs are there with zeros."""
    counts: dict[str, list[int]] = {part.name: [0, 0, 0, 0] for part in snapshot.partitions}
    for at, jobs in ((0, snapshot.pending), (2, snapshot.running)):
        # Few kinds of requests in ten thousand jobs: counted in half the time of adding up.
        for (partitions, tasks, gpus), count in Counter(map(_REQUEST, jobs)).items():
            row = counts.setdefault(partitions[0] if partitions else "", [0, 0, 0, 0])
            row[at] += count * tasks
            row[at + 1] += count * tasks * gpus
    unknown = Waits(math.nan, math.nan)
    return {
        name: Load(row[0], row[1], row[2], row[3], *waits.get(name, unknown))
        for name, row in counts.items()
    }


def classes(reasons: Iterable[str]) -> Mapping[str, int]:
    """Reasons why jobs are left alone, counted by what stands before the colon.

    >>> classes(["held: JobHeldUser", "held: JobHeldAdmin", "excluded: qos debug"])
    {'held': 2, 'excluded': 1}
    """
    return dict(Counter(reason.partition(":")[0] for reason in reasons))
