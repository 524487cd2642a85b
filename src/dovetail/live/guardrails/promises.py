"""What was promised to a group of jobs is kept: while a promise is at risk, Slurm's order rules.

The twin says how far the waits of each group have grown against Slurm's own order. When one has
used up most of what it was allowed, jobs stand as Slurm has them until enough is left again. Jobs
of groups too small to judge go first when they have waited too long. If promises are still broken
after `promise_hours`, the queue is given back.
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
from dovetail.live.guardrails.slurm_order import slurm_order
from dovetail.live.guardrails.starvation import NOT_ITS_TURN
from dovetail.live.guardrails.words import jobs, shortened
from dovetail.live.model.decision import Decision
from dovetail.live.model.snapshot import LiveJob

NAME = "promises"


class Overdue(NamedTuple):
    """One job of a rare group that has waited too long."""

    due: float  # seconds since 1970
    job: int
    group: Group


def promises(decision: Decision, situation: Situation, config: GuardrailConfig) -> Ruling:
    """Slurm's order while a promise is at risk; fall back after `promise_hours` of breach."""
    state = situation.promises
    if state is None:
        return passed(NAME, decision, "nothing is promised, or the twin has not looked yet")
    broken = state.check.broken
    if broken and state.hours >= config.promise_hours:
        return fallen_back(
            NAME,
            decision,
            f"promises broken for {state.hours:.1f} h (allowed {config.promise_hours:g}): "
            f"{shortened([str(finding) for finding in broken])}",
        )
    if state.at_risk:
        said = shortened([str(finding) for finding in state.at_risk])
        return _as_slurm_has_them(decision, situation, f"{said}: Slurm's own order for now")
    return _lift(decision, situation, state.rare, f"{len(state.check.kept)} promises kept")


def _as_slurm_has_them(decision: Decision, situation: Situation, said: str) -> Ruling:
    order = slurm_order(decision.order, situation)
    if order == decision.order:
        return passed(NAME, decision, said)
    reasons = dict.fromkeys(order, "a promise is at risk: as Slurm has it")
    return amended(
        NAME, replace(decision, order=order, reasons={**decision.reasons, **reasons}), said
    )


def _lift(
    decision: Decision, situation: Situation, limits: Mapping[Group, float], said: str
) -> Ruling:
    late = overdue(decision.order, situation, limits)
    if not late:
        return passed(NAME, decision, f"{said}; no job of a rare group has waited too long")
    first = [item.job for item in late]
    lifted = set(first)
    order = (*first, *(job for job in decision.order if job not in lifted))
    said = f"{said}; {jobs(len(late))} of rare groups waited too long"
    if order == decision.order:
        return passed(NAME, decision, f"{said}: first already")
    reasons = {
        item.job: f"{' '.join(item.group)} is rare: goes first after {duration(limits[item.group])}"
        for item in late
    }
    ruled = replace(decision, order=order, reasons={**decision.reasons, **reasons})
    return amended(NAME, ruled, f"{said}: these go first")


def overdue(
    order: Iterable[int], situation: Situation, limits: Mapping[Group, float]
) -> tuple[Overdue, ...]:
    """The jobs of the order that have waited beyond the limit of a group of theirs."""
    now, by_id, found = situation.snapshot.time, situation.snapshot.by_id, []
    for number in order if limits else ():
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
