"""All guardrails one after the other: every verdict is kept, the worst outcome wins."""

from __future__ import annotations

from collections.abc import Mapping

from dovetail.live.config import GuardrailConfig
from dovetail.live.guardrails.base import (
    Guardrail,
    GuardrailOutcome,
    Ruling,
    Situation,
    Verdict,
    stopped,
)
from dovetail.live.model.decision import Decision


def apply_all(
    guardrails: Mapping[str, Guardrail],
    decision: Decision,
    situation: Situation,
    config: GuardrailConfig,
) -> tuple[Decision, tuple[Verdict, ...], GuardrailOutcome]:
    """What is left of the decision, what each guardrail said, and the worst of it."""
    verdicts = []
    for name, guardrail in guardrails.items():
        decision, verdict = _ruling(name, guardrail, decision, situation, config)
        verdicts.append(verdict)
    outcomes = [verdict.outcome for verdict in verdicts]
    worst = max(outcomes, key=lambda outcome: outcome.severity, default=GuardrailOutcome.PASS)
    return decision, tuple(verdicts), worst


def _ruling(
    name: str,
    guardrail: Guardrail,
    decision: Decision,
    situation: Situation,
    config: GuardrailConfig,
) -> Ruling:
    try:
        return guardrail(decision, situation, config)
    except Exception as error:  # whatever it is: a guardrail that cannot rule has not let pass
        return stopped(
            name, decision, f"the guardrail itself failed: {type(error).__name__}: {error}"
        )
