"""What took too long is not acted upon: the queue has moved on since."""

from __future__ import annotations

from dovetail.live.config import GuardrailConfig
from dovetail.live.guardrails.base import Ruling, Situation, passed, stopped
from dovetail.live.model.decision import Decision

NAME = "latency"


def latency(decision: Decision, situation: Situation, config: GuardrailConfig) -> Ruling:
    """Stop when reading or deciding took longer than its budget."""
    spent = (
        ("reading", situation.read_seconds, config.read_seconds),
        ("deciding", decision.seconds, config.decide_seconds),
    )
    # `not <=`: a time that is no number is over budget.
    over = [
        f"{what} took {seconds:.1f} s, more than {budget:g} s"
        for what, seconds, budget in spent
        if not seconds <= budget
    ]
    if over:
        return stopped(NAME, decision, "; ".join(over))
    return passed(
        NAME,
        decision,
        f"reading took {situation.read_seconds:.2f} s, deciding {decision.seconds:.2f} s",
    )
