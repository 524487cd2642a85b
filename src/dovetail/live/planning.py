"""One cycle between reading and acting: decide, guard, work out what to send. Pure.

plan = make_plan(decider, situation, own, config)
plan.outcome, plan.changes, plan.verdicts
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from dovetail.domain.decision import Change, Decision
from dovetail.domain.snapshot import Snapshot
from dovetail.live.changes import Own, changes_for
from dovetail.live.config import LiveConfig
from dovetail.live.guardrails import guard, limit_changes
from dovetail.live.guardrails.base import Outcome, Situation, Verdict


class Decides(Protocol):
    """What turns a snapshot into a decision; `Decider` does."""

    def decide(self, snapshot: Snapshot) -> Decision: ...


@dataclass(frozen=True, slots=True)
class Plan:
    """What was decided, what guardrails said, and what would bring it about."""

    decision: Decision
    verdicts: tuple[Verdict, ...]
    outcome: Outcome
    changes: tuple[Change, ...]

    @property
    def may_act(self) -> bool:
        return self.outcome in (Outcome.PASS, Outcome.AMENDED)

    @property
    def objections(self) -> tuple[Verdict, ...]:
        """The verdicts that stand behind the outcome."""
        return tuple(v for v in self.verdicts if v.outcome is self.outcome)


def make_plan(decider: Decides, situation: Situation, own: Own, config: LiveConfig) -> Plan:
    """Decide on the snapshot, let every guardrail look, and limit what is sent."""
    decision = decider.decide(situation.snapshot)
    decision, verdicts, outcome = guard(decision, situation, config.guardrails)
    changes = changes_for(decision, situation.snapshot, own, config.act)
    changes, verdict = limit_changes(changes, situation, config.guardrails, decision.order)
    worst = max(outcome, verdict.outcome, key=lambda each: each.severity)
    return Plan(decision, (*verdicts, verdict), worst, changes)
