"""At most so many changes per cycle and per hour; those for the head of the order first.

It works on changes, so it stands outside the registry. Restoring jobs is never limited: do not
pass those changes here.
"""

from __future__ import annotations

from collections.abc import Sequence

from dovetail.live.config import GuardrailConfig
from dovetail.live.guardrails.base import GuardrailOutcome, Situation, Verdict
from dovetail.live.guardrails.slurm_order import places
from dovetail.live.guardrails.wording import some
from dovetail.live.model.decision import Change

NAME = "rate"

HOUR = 3600.0


def limit_changes(
    changes: Sequence[Change],
    situation: Situation,
    config: GuardrailConfig,
    order: Sequence[int] = (),
) -> tuple[tuple[Change, ...], Verdict]:
    """The changes that may be sent now: by `order`, then, for jobs not in it, as they come."""
    last_hour = sum(count for steady, count in situation.sent if situation.steady - steady < HOUR)
    left = max(0, config.changes_per_hour - last_hour)
    most = min(left, config.changes_per_cycle)
    hour = f"{last_hour:,} of {config.changes_per_hour:,} sent in the last hour"
    if len(changes) <= most:
        return tuple(changes), Verdict(
            NAME, GuardrailOutcome.PASS, f"{some(len(changes), 'change')}; {hour}"
        )
    place = places(order)
    ranked = sorted(changes, key=lambda change: place.get(change.job, len(order)))
    return tuple(ranked[:most]), Verdict(
        NAME,
        GuardrailOutcome.AMENDED,
        f"{most:,} of {some(len(changes), 'change')} may be sent now "
        f"({config.changes_per_cycle:,} per cycle; {hour}): the head of the order first",
    )
