"""What a scheduler wants of a live cluster: an order of its waiting jobs, and hints where to run.

decision = decide(snapshot)
changes = changes_for(decision, snapshot)     # only what differs from what is
results = backend.apply(changes)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple


class Hint(NamedTuple):
    """Where a job should run; empty parts say nothing. Slurm takes one node as a wish for it."""

    node: str = ""  # the one node it is pinned to
    avoid: tuple[str, ...] = ()
    features: str = ""
    share: bool = False  # OverSubscribe


@dataclass(frozen=True, slots=True)
class Decision:
    """An order of the jobs that may be touched, first to go first, with the reason of each."""

    order: tuple[int, ...]  # LiveJob.id
    reasons: Mapping[int, str] = field(default_factory=dict)
    hints: Mapping[int, Hint] = field(default_factory=dict)
    untouched: Mapping[int, str] = field(default_factory=dict)  # job -> why it is left alone
    beyond: frozenset[int] = frozenset()  # may be touched, but stand so far back that none is
    policy: str = ""
    model: str = ""  # digest of the weights, empty: none
    seconds: float = 0.0  # that deciding took
    score_range: tuple[float, float] = (0.0, 0.0)  # lowest and highest score, NaN if any was NaN


class Knob(Enum):
    """What can be changed about a job, by the word that scontrol takes."""

    SITE_FACTOR = "SiteFactor"
    PRIORITY = "Priority"  # freezes the job
    NODE = "ReqNodeList"
    AVOID = "ExcNodeList"
    FEATURES = "Features"
    SHARE = "OverSubscribe"
    RELEASE = "release"  # gives a frozen job back to Slurm's own factors


@dataclass(frozen=True, slots=True)
class Change:
    """One value of one job, as it was and as it shall be."""

    job: int
    label: str  # what scontrol takes
    knob: Knob
    before: str
    after: str
    reason: str


@dataclass(frozen=True, slots=True)
class Result:
    """What became of a change; `error` is Slurm's own words, empty: done."""

    change: Change
    error: str = ""

    @property
    def done(self) -> bool:
        return not self.error
