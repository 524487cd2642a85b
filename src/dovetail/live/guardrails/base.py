"""What a guardrail is: a pure function from a decision and its situation to a ruling.

Guardrails run in a fixed order, each on what the one before let through. None does anything itself:
the controller acts on the worst outcome.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import NamedTuple

from dovetail.domain.promises import Finding, PromiseCheck
from dovetail.domain.protection import Group
from dovetail.live.config import GuardrailConfig
from dovetail.live.model.decision import Decision
from dovetail.live.model.snapshot import Snapshot

JobSet = tuple[frozenset[int], tuple[str, ...]]
"""Jobs, and what of them is asked for."""


class GuardrailOutcome(Enum):
    """What a guardrail says; the later the worse."""

    PASS = "pass"
    AMENDED = "amended"  # the decision was changed, the rest of it stands
    STOP = "stop"  # nothing is sent in this cycle
    FALL_BACK = "fall back"  # leave active mode, restore every job

    @property
    def severity(self) -> int:
        return list(GuardrailOutcome).index(self)


class Verdict(NamedTuple):
    guardrail: str
    outcome: GuardrailOutcome
    reason: str  # a sentence, with figures


class Ruling(NamedTuple):
    decision: Decision
    verdict: Verdict


@dataclass(frozen=True)
class Glimpse:
    """What is remembered of the cycle before."""

    wall: float  # snapshot time
    steady: float  # seconds of a clock that nobody sets
    pending: frozenset[int]
    running: frozenset[int]
    nodes: frozenset[str]  # the usable ones
    order: tuple[int, ...]  # as decided then


@dataclass(frozen=True)
class PromiseState:
    """How the promises stood when the twin was last asked."""

    check: PromiseCheck = field(default_factory=PromiseCheck)
    at_risk: tuple[Finding, ...] = ()  # while there are any, Slurm's own order rules
    rare: Mapping[Group, float] = field(default_factory=dict)  # limits of groups of few jobs
    hours: float = 0.0  # for which promises have been broken without a break


@dataclass(frozen=True)
class Situation:
    """All that guardrails may look at besides the decision."""

    snapshot: Snapshot
    steady: float  # seconds of a clock that nobody sets, when the snapshot was taken
    before: Glimpse | None  # None: this is the first cycle
    own: Mapping[int, int]  # site factors (or priorities) that we have set, by job
    read_seconds: float
    # what Slurm gave jobs before we froze them, by job; only with knob "priority", where
    # Slurm no longer tells
    slurm_priority: Mapping[int, int] = field(default_factory=dict)
    waits: Mapping[str, float] = field(default_factory=dict)  # partition -> p95 of recent waits
    model_trained: float = 0.0  # when the model was made, seconds since 1970; 0: no model
    sent: tuple[tuple[float, int], ...] = ()  # (steady, how many) of changes sent of late
    # for the trip-wire: mean waits of jobs that started in active mode, and the twin's for Slurm
    actual_wait: float = float("nan")
    slurm_wait: float = float("nan")
    wanted: float = float("nan")  # what the objective weighs, over Slurm's; NaN: mean wait
    active_hours: float = 0.0
    compared_jobs: int = 0
    promises: PromiseState | None = None  # None: nothing is promised, or not looked at yet

    @cached_property
    def own_priorities(self) -> Mapping[int, int]:
        """What Slurm alone gives every pending job; where we froze one, what it gave before."""
        snapshot = self.snapshot
        unknown = {job.id: job.priority for job in snapshot.without_factors}
        if not unknown and not self.slurm_priority:
            return snapshot.own_priorities
        priorities = {**snapshot.own_priorities, **unknown}
        for job, before in self.slurm_priority.items():
            factor = snapshot.factors.get(job)
            if factor is not None and factor.frozen:
                priorities[job] = before
        return priorities

    @cached_property
    def orders(self) -> dict[frozenset[int], tuple[int, ...]]:
        """Slurm's order of sets of jobs: several guardrails ask for the same."""
        return {}

    @cached_property
    def lines(self) -> dict[JobSet, Mapping[int, tuple[object, ...]]]:
        """What binds of the jobs of a set, likewise."""
        return {}


Guardrail = Callable[[Decision, Situation, GuardrailConfig], Ruling]


def passed(name: str, decision: Decision, reason: str) -> Ruling:
    return Ruling(decision, Verdict(name, GuardrailOutcome.PASS, reason))


def amended(name: str, decision: Decision, reason: str) -> Ruling:
    return Ruling(decision, Verdict(name, GuardrailOutcome.AMENDED, reason))


def stopped(name: str, decision: Decision, reason: str) -> Ruling:
    return Ruling(decision, Verdict(name, GuardrailOutcome.STOP, reason))


def fallen_back(name: str, decision: Decision, reason: str) -> Ruling:
    return Ruling(decision, Verdict(name, GuardrailOutcome.FALL_BACK, reason))
