"""No job loses more than so many places against Slurm's own order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dovetail.live.config import GuardrailConfig
from dovetail.live.guardrails.base import Ruling, Situation, amended, passed
from dovetail.live.guardrails.fair_share import kept_places
from dovetail.live.guardrails.latest_places import meet
from dovetail.live.guardrails.slurm_order import places, slurm_order
from dovetail.live.guardrails.words import jobs, some
from dovetail.live.model.decision import Decision

NAME = "displacement"


def latest_places(
    own: Sequence[int], situation: Situation, config: GuardrailConfig
) -> dict[int, int]:
    """The last place that each job of Slurm's order `own` may get."""
    latest = dict(zip(own, range(config.displacement, config.displacement + len(own)), strict=True))
    latest.update(kept_places(own, situation, config))
    return latest


def displacement(decision: Decision, situation: Situation, config: GuardrailConfig) -> Ruling:
    """The order nearest to the policy's in which every job keeps within `displacement` places.

    The places that `fair_share` keeps are kept here too. Slurm's own order meets all of them, so
    that there always is an answer.
    """
    own = slurm_order(decision.order, situation)
    own_place = places(own)
    latest = latest_places(own, situation, config)
    order = meet(decision.order, latest)
    if order == decision.order:
        lost = max((place - own_place[job] for place, job in enumerate(order)), default=0)
        return passed(NAME, decision, f"no job loses more than {some(lost, 'place')}")
    wished = places(decision.order)
    late = [job for job in order if wished[job] > latest[job]]
    kept = f"kept within {some(config.displacement, 'place')} of Slurm's order"
    reasons = dict.fromkeys(late, kept)
    worst = max(wished[job] - place for job, place in own_place.items())
    return amended(
        NAME,
        replace(decision, order=order, reasons={**decision.reasons, **reasons}),
        f"{jobs(len(late))} would have lost more places than allowed "
        f"(up to {worst:,} of {config.displacement:,}): kept within them",
    )
