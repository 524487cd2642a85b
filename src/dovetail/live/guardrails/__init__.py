"""Guardrails by name, in the order in which they rule; a new one is one file and one line here.

Why in this order:
1. `freshness`, `latency`, `sanity`, `tripwire` change nothing and ask whether the decision, the
   snapshot and we ourselves can be trusted at all: their reasons come first in the journal.
2. `pins` goes before all that move jobs: places are counted among the jobs that are ours to move.
3. `promises` and `starvation` state wishes, the others state limits: a limit that came before
   them would be broken by them. Starving jobs go before those of rare groups.
4. `fair_share` counts Slurm's places with the starving jobs in front, so that lifting a job never
   puts it before one of these.
5. `displacement` keeps the places of `fair_share`, and leaves starving jobs in front unless there
   are more of them than places that a job may lose.
6. `lines` is last, and so holds without exception: what the site has declared binds the others,
   too. It keeps the places of `displacement` and `fair_share` within each class.
"""

from __future__ import annotations

from dovetail.domain.registry import Registry
from dovetail.live.config import GuardrailConfig
from dovetail.live.guardrails.base import Guardrail, GuardrailOutcome, Situation, Verdict
from dovetail.live.guardrails.chain import apply_all
from dovetail.live.guardrails.displacement import displacement
from dovetail.live.guardrails.fair_share import fair_share
from dovetail.live.guardrails.freshness import freshness
from dovetail.live.guardrails.latency import latency
from dovetail.live.guardrails.lines import lines
from dovetail.live.guardrails.pins import pins
from dovetail.live.guardrails.promises import promises
from dovetail.live.guardrails.rate import limit_changes
from dovetail.live.guardrails.sanity import sanity
from dovetail.live.guardrails.starvation import starvation
from dovetail.live.guardrails.tripwire import tripwire
from dovetail.live.model.decision import Decision

GUARDRAILS: Registry[Guardrail] = Registry(
    "guardrail",
    {
        "freshness": freshness,
        "latency": latency,
        "sanity": sanity,
        "tripwire": tripwire,
        "pins": pins,
        "promises": promises,
        "starvation": starvation,
        "fair_share": fair_share,
        "displacement": displacement,
        "lines": lines,
    },
)


def guard(
    decision: Decision, situation: Situation, config: GuardrailConfig
) -> tuple[Decision, tuple[Verdict, ...], GuardrailOutcome]:
    """What the guardrails leave of the decision, all that they said, and the worst of it."""
    return apply_all(GUARDRAILS, decision, situation, config)


__all__ = ["GUARDRAILS", "guard", "limit_changes"]
