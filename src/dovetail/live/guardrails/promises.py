"""What was promised to a group of jobs is kept: a group in breach goes first, or Slurm takes over.

The twin says which groups wait longer than promised against Slurm's own order. Their jobs that have
waited too long go first, by the moment from which on they did; if promises are still broken after
`promise_hours`, the queue is given back.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from dovetail.domain.job_groups import size_class
from dovetail.domain.protection import Group
from dovetail.domain.units import duration
from dovetail.live.config import GuardrailConfig
from dovetail.live.guardrails.base import Ruling, Situation, amended, fallen_back, passed
from dovetail.live.guardrails.starvation import NOT_ITS_TURN
from dovetail.live.guardrails.words import jobs, shortened
from dovetail.live.model.decision import Decision
from dovetail.live.model.snapshot import LiveJob

NAME = "promises"


class Overdue(NamedTuple):
    """One job of a group in breach that has waited too long."""

    due: float  # seconds since 1970
    job: int
    group: Group


def promises(decision: Decision, situation: Situation, config: GuardrailConfig) -> Ruling:
    """Overdue jobs of groups in breach go first; fall back after `promise_hours` of breach."""
    state = situation.promises
    if state is None:
        return passed(NAME, decision, "nothing is promised, or the twin has not looked yet")
    if not state.check.broken:
        return passed(NAME, decision, f"{len(state.check.kept)} promises looked at, all kept")
    said = shortened([str(finding) for finding in state.check.broken])
    if state.hours >= config.promise_hours:
        return fallen_back(
            NAME,
            decision,
            f"promises broken for {state.hours:.1f} h (allowed {config.promise_hours:g}): {said}",
        )
    late = overdue(decision.order, situation, state.limits)
    if not late:
        return passed(NAME, decision, f"{said}: no job of these has waited too long now")
    first = [item.job for item in late]
    order = (*first, *(job for job in decision.order if job not in set(first)))
    if order == decision.order:
        return passed(NAME, decision, f"{said}: {jobs(len(late))} first already")
    reasons = {
        item.job: f"{' '.join(item.group)} waits longer than promised: goes first after "
        f"{duration(state.limits[item.group])}"
        for item in late
    }
    lifted = replace(decision, order=order, reasons={**decision.reasons, **reasons})
    return amended(NAME, lifted, f"{said}: {jobs(len(late))} of these go first")


def overdue(
    order: Iterable[int], situation: Situation, limits: Mapping[Group, float]
) -> tuple[Overdue, ...]:
    """The jobs of the order that have waited beyond the limit of a group of theirs."""
    now, by_id, found = situation.snapshot.time, situation.snapshot.by_id, []
    for number in order:
        job = by_id.get(number)
        if job is None or job.reason.startswith(NOT_ITS_TURN):
            continue
        mine = [(limits[group], group) for group in groups_of(job) if group in limits]
        if not mine:
            continue
        limit, group = min(mine)
        since = job.submit if math.isnan(job.eligible) else job.eligible
        if now - since > limit:
            found.append(Overdue(since + limit, number, group))
    return tuple(sorted(found))


def groups_of(job: LiveJob) -> tuple[Group, ...]:
    """The groups that promises can be made to and that a waiting job is in."""
    return (
        ("size", size_class(job.gpus)),
        ("qos", job.qos),
        ("account", job.account),
        ("user", job.user),
    )
