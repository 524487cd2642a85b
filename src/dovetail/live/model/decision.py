"""What a scheduler wants of a live cluster: an order of its waiting jobs, and hints where to run.

>>> change = Change(17, "17", Knob.SITE_FACTOR, before=0, after=120, reason="goes first")
>>> Result(change).done, Result(change, "Job has already finished").done
(True, False)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

PLAIN_FEATURE = "[A-Za-z0-9][A-Za-z0-9._=:-]*"
"""A feature that is one word for Slurm, and no expression over several."""

UNDO = "Dovetail leaves the queue to Slurm"
"""The reason of changes that put a job back."""


class Hint(NamedTuple):
    """Where a job should run: on one node, or on any with a feature."""

    node: str = ""  # the one node it is pinned to
    feature: str = ""  # of nodes; where it is given, no node is


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
    # wishes of the policy that no order tells Slurm -> jobs that could start now against them
    unexpressed: Mapping[str, int] = field(default_factory=dict)


class Knob(Enum):
    """What can be changed about a job."""

    SITE_FACTOR = "site factor"  # an int, added to Slurm's own priority
    PRIORITY = "priority"  # an int freezes the job; None gives it back to Slurm's own factors
    NODE = "node"  # the name of the one node that it must get; "" for any
    FEATURES = "feature"  # that its nodes must have; "" for none


Value = int | str | None
"""Of a knob, as said there; as a `before`, None also says that nobody knows."""


@dataclass(frozen=True, slots=True)
class Change:
    """One value of one job, as it was and as it shall be."""

    job: int
    label: str  # what scontrol takes
    knob: Knob
    before: Value
    after: Value
    reason: str


@dataclass(frozen=True, slots=True)
class Result:
    """What became of a change; `error` is Slurm's own words, empty: done."""

    change: Change
    error: str = ""

    @property
    def done(self) -> bool:
        return not self.error
