"""One cycle between reading and acting: decide, guard, work out what to send. Pure."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Protocol

from dovetail.live.config import GuardrailConfig, LiveConfig
from dovetail.live.cycle.changes import changes_for
from dovetail.live.cycle.class_band import banded, class_ranks
from dovetail.live.cycle.dead_band import EXACT, settled
from dovetail.live.guardrails import guard, limit_changes
from dovetail.live.guardrails.base import GuardrailOutcome, Situation, Verdict
from dovetail.live.guardrails.displacement import latest_places
from dovetail.live.guardrails.lines import lines_in
from dovetail.live.guardrails.slurm_order import Moved, moved, places, slurm_order
from dovetail.live.ledger import LedgerView
from dovetail.live.model.decision import Change, Decision
from dovetail.live.model.snapshot import Snapshot

SLACK = 4
"""One in so many places of `displacement` is kept for the dead band, see dead_band.py."""


TRIES = 5
"""How often jobs that would stand too far back are taken out of the dead band."""


class Decides(Protocol):
    """What turns a snapshot into a decision; `Decider` does."""

    def decide(self, snapshot: Snapshot) -> Decision: ...


@dataclass(frozen=True, slots=True)
class CyclePlan:
    """What was decided, what guardrails said, and what would bring it about."""

    decision: Decision
    verdicts: tuple[Verdict, ...]
    outcome: GuardrailOutcome
    changes: tuple[Change, ...]
    moved: Moved
    guard_seconds: float

    @property
    def may_act(self) -> bool:
        return self.outcome in (GuardrailOutcome.PASS, GuardrailOutcome.AMENDED)

    @property
    def objections(self) -> tuple[Verdict, ...]:
        """The verdicts that stand behind the outcome."""
        return tuple(v for v in self.verdicts if v.outcome is self.outcome)


def make_plan(
    decider: Decides, situation: Situation, own: LedgerView, config: LiveConfig
) -> CyclePlan:
    """Decide on the snapshot, let every guardrail look, and limit what is sent."""
    # 2. Decide: an order of the waiting jobs.
    decision = decider.decide(situation.snapshot)
    began = time.perf_counter()
    # 3. Guard: what may not be, is amended or stops the round.
    limits = config.guardrails
    slack = limits.displacement // SLACK
    strict = replace(limits, displacement=limits.displacement - slack)
    decision, verdicts, outcome = guard(decision, situation, strict)
    decision = _settle(decision, situation, limits, slack)
    # 4. Assign: the order as priorities, with as few changes as possible.
    changes = changes_for(decision, situation.snapshot, own, config.act, situation.own_priorities)
    changes, verdict = limit_changes(changes, situation, config.guardrails, decision.order)
    worst = max(outcome, verdict.outcome, key=lambda each: each.severity)
    return CyclePlan(
        decision=decision,
        verdicts=(*verdicts, verdict),
        outcome=worst,
        changes=changes,
        moved=moved(decision.order, slurm_order(decision.order, situation)),
        guard_seconds=time.perf_counter() - began,
    )


def _settle(
    decision: Decision, situation: Situation, limits: GuardrailConfig, slack: int
) -> Decision:
    """Leave jobs behind the head where they are, unless a guardrail's limit would be passed."""
    now, order = situation.snapshot.priorities, decision.order
    if not now.keys() >= set(order):
        return decision
    # Of equal ones the older first.
    present = sorted(sorted(order), key=now.__getitem__, reverse=True)
    line = lines_in(order, situation, limits.binding)
    latest = latest_places(slurm_order(order, situation), situation, limits)
    ranks = class_ranks(line, limits.binding)
    must: set[int] = set()
    for tried in range(TRIES):
        found = settled(order, present, line.__getitem__, slack=slack, must=must)
        if ranks is not None:
            found = banded(found, present, ranks.__getitem__, EXACT, slack >> tried)
        late = {job for job, place in places(found).items() if place > latest[job]}
        if not late:
            return replace(decision, order=found)
        must |= late
    return decision
