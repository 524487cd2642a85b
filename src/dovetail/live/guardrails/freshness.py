"""A model that is too old, or scores that make no sense, decide nothing."""

from __future__ import annotations

import math

from dovetail.live.config import GuardrailConfig
from dovetail.live.guardrails.base import Ruling, Situation, passed, stopped
from dovetail.live.model.decision import Decision

NAME = "freshness"

DAY = 86_400.0


def freshness(decision: Decision, situation: Situation, config: GuardrailConfig) -> Ruling:
    """Stop on models older than `model_days` and on scores beyond `score_limit`."""
    low, high = decision.score_range
    if not (math.isfinite(low) and math.isfinite(high)):
        return stopped(NAME, decision, f"scores from {low:g} to {high:g}: not all are numbers")
    if max(abs(low), abs(high)) > config.score_limit:
        return stopped(
            NAME, decision, f"scores from {low:g} to {high:g}: beyond ±{config.score_limit:g}"
        )
    if situation.model_trained == 0.0:
        return passed(NAME, decision, f"no model; scores from {low:g} to {high:g}")
    age = (situation.snapshot.time - situation.model_trained) / DAY
    if not age <= config.model_days:
        return stopped(
            NAME,
            decision,
            f"the model is {age:.1f} days old, more than {config.model_days:g}: train a new one",
        )
    if age < -1.0:  # less may be a matter of clocks on two machines
        return stopped(
            NAME, decision, f"the model was made {-age:.1f} days in the future: check the clock"
        )
    return passed(
        NAME, decision, f"the model is {age:.1f} days old; scores from {low:g} to {high:g}"
    )
