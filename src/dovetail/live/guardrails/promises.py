"""What was promised to a group of jobs is kept: jobs at risk go first, or Slurm takes over.

The twin says how long jobs of each group may wait, and how many may still wait longer. Jobs that
have waited a part of that go first, by the moment from which on they did; those that the policy
would take last are left where they are, as far as the allowance goes. If promises are still
broken after `promise_hours`, the queue is given back.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from dovetail.domain.job_groups import size_class
from dovetail.domain.protection import Group, Protection
from dovetail.domain.units import duration
from dovetail.live.config import GuardrailConfig
from dovetail.live.guardrails.base import (
    PromiseState,
    Ruling,
    Situation,
    amended,
    fallen_back,
    passed,
)
from dovetail.live.guardrails.starvation import NOT_ITS_TURN
from dovetail.live.guardrails.words import jobs, shortened
from dovetail.live.model.decision import Decision
from dovetail.live.model.snapshot import LiveJob

NAME = "promises"


class Overdue(NamedTuple):
    """One job that has waited so long that the promise to a group of its is at risk."""

    due: float  # seconds since 1970
    job: int
    group: Group


def promises(decision: Decision, situation: Situation, config: GuardrailConfig) -> Ruling:
    """Jobs that put a promise at risk go first; fall back after `promise_hours` of breach."""
    state = situation.promises
    if state is None:
        return passed(NAME, decision, "nothing is promised, or the twin has not looked yet")
    said = shortened([str(finding) for finding in state.check.broken])
    if state.check.broken and state.hours >= config.promise_hours:
        return fallen_back(
            NAME,
            decision,
            f"promises broken for {state.hours:.1f} h (allowed {config.promise_hours:g}): {said}",
        )
    said = said or f"{len(state.check.kept)} promises looked at, all kept"
    late = overdue(decision.order, situation, state)
    if not late:
        return passed(NAME, decision, f"{said}; no job puts one at risk now")
    first = [item.job for item in late]
    lifted = set(first)
    order = (*first, *(job for job in decision.order if job not in lifted))
    if order == decision.order:
        return passed(NAME, decision, f"{said}; {jobs(len(late))} at risk, first already")
    reasons = {
        item.job: f"waited more than {duration(state.protections[item.group].limit)}: goes first, "
        f"so that {' '.join(item.group)} waits no longer than promised"
        for item in late
    }
    ruled = replace(decision, order=order, reasons={**decision.reasons, **reasons})
    return amended(NAME, ruled, f"{said}; {jobs(len(late))} at risk, these go first")


def overdue(order: Sequence[int], situation: Situation, state: PromiseState) -> tuple[Overdue, ...]:
    """The jobs of the order that must go first for a group of theirs, the longest due before."""
    snapshot, found = situation.snapshot, dict[int, Overdue]()
    by_id = snapshot.by_id
    members: dict[Group, list[tuple[int, float]]] = {}  # jobs in the order, and since when
    for number in order:
        job = by_id.get(number)
        if job is None or job.reason.startswith(NOT_ITS_TURN):
            continue
        since = job.submit if math.isnan(job.eligible) else job.eligible
        for group in groups_of(job):
            if group in state.protections:
                members.setdefault(group, []).append((number, since))
    for group, waiting in members.items():
        part = state.protections[group]
        for number, since in at_risk(waiting, part, snapshot.time, state.looked):
            due = Overdue(since + part.limit, number, group)
            found[number] = min(due, found.get(number, due))
    return tuple(sorted(found.values()))


def at_risk(
    waiting: Sequence[tuple[int, float]], part: Protection, now: float, looked: float
) -> list[tuple[int, float]]:
    """Of one group, in the policy's order: past the limit, not yet past what was promised.

    The last ones are left out, as far as the allowance goes. Jobs that have waited longer than
    promised are lost to the promise; they go as the policy says, until `starvation` lifts them.
    """
    lost = sum(now - since > part.promised >= looked - since for _, since in waiting)
    risky = [(job, since) for job, since in waiting if part.limit < now - since <= part.promised]
    return risky[: max(0, len(risky) - part.spared(lost))]


def groups_of(job: LiveJob) -> tuple[Group, ...]:
    """The groups that promises can be made to and that a waiting job is in."""
    return (
        ("size", size_class(job.gpus)),
        ("qos", job.qos),
        ("account", job.account),
        ("user", job.user),
    )
