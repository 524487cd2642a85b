"""At most so many changes per cycle and per hour; those that are worth most first.

It works on changes, so it stands outside the registry. Restoring jobs is never limited: do not
pass those changes here. A budget that no longer does for the head of the queue ends active mode:
a daemon that says "active" and sends nothing would leave an order behind that grows older.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dovetail.live.config import GuardrailConfig
from dovetail.live.guardrails.base import GuardrailOutcome, Situation, Verdict
from dovetail.live.guardrails.slurm_order import places
from dovetail.live.guardrails.words import some
from dovetail.live.model.decision import Change

NAME = "rate"

HOUR = 3600.0
HEAD = 100
"""Places at the head of the order that the last part of the budget is kept for."""
NEARLY = 0.8
"""Of the hour's budget: once so much is spent, only changes for the head are sent."""


def limit_changes(
    changes: Sequence[Change],
    situation: Situation,
    config: GuardrailConfig,
    order: Sequence[int] = (),
) -> tuple[tuple[Change, ...], Verdict]:
    """The changes that may be sent now, in the order in which they came."""
    spent = sum(count for steady, count in situation.sent if situation.steady - steady < HOUR)
    left = max(0, config.changes_per_hour - spent)
    hour = f"{spent:,} of {config.changes_per_hour:,} sent in the last hour"
    if spent > NEARLY * config.changes_per_hour:
        place = places(order)
        head = [change for change in changes if place.get(change.job, 0) < HEAD]
        if len(head) > left:
            return (), Verdict(
                NAME,
                GuardrailOutcome.FALL_BACK,
                f"{hour}: what is left does not do for the {some(len(head), 'change')} at the head "
                "of the order; raise guardrails.changes_per_hour or period, then ask for active "
                "mode again",
            )
        if len(head) < len(changes):
            return tuple(head), Verdict(
                NAME,
                GuardrailOutcome.AMENDED,
                f"the budget nears its end ({hour}): only {some(len(head), 'change')} for the head "
                f"of the order, {len(changes) - len(head):,} more wait",
            )
    most = min(left, config.changes_per_cycle)
    if len(changes) <= most:
        return tuple(changes), Verdict(
            NAME, GuardrailOutcome.PASS, f"{some(len(changes), 'change')}; {hour}"
        )
    worth = worth_of(changes, situation, order)
    best = sorted(range(len(changes)), key=lambda i: -worth[changes[i].job])[:most]
    return tuple(changes[i] for i in sorted(best)), Verdict(
        NAME,
        GuardrailOutcome.AMENDED,
        f"{most:,} of {some(len(changes), 'change')} may be sent now "
        f"({config.changes_per_cycle:,} per cycle; {hour}): those that are worth most first",
    )


def worth_of(
    changes: Sequence[Change], situation: Situation, order: Sequence[int]
) -> Mapping[int, float]:
    """Places that a job moves, over the place where that begins to matter, counted from the head.

    A job that goes from place 90 to place 1 is worth more than one that goes from 900 to 500, and
    that more than one that goes from 900 to 899. Jobs outside the order count least.
    """
    now = situation.snapshot.priorities
    wanted = places(order)
    jobs = np.fromiter(wanted, np.int64, len(wanted))
    has = np.fromiter((now.get(job, 0) for job in wanted), np.int64, len(wanted))
    present = places(jobs[np.lexsort((jobs, -has))].tolist())
    worth = {}
    for change in changes:
        to = wanted.get(change.job)
        if to is None:
            worth[change.job] = 1.0 / (2 + len(order))
        else:
            at = present[change.job]
            # One place at least: a job may stand right among those that move and yet be one.
            worth[change.job] = max(1, abs(to - at)) / (1 + min(to, at))
    return worth
