"""What people set by hand wins: such jobs are left alone.

Reasons begin with their class, before the colon: the metrics count by it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from operator import itemgetter

from dovetail.live.config import GuardrailConfig
from dovetail.live.guardrails.base import Ruling, Situation, amended, passed
from dovetail.live.guardrails.words import jobs, shortened
from dovetail.live.model.decision import Decision
from dovetail.live.model.snapshot import LiveJob

NAME = "pins"
_ID, _REASON, _PRIORITY = (
    itemgetter(LiveJob._fields.index(name)) for name in ("id", "reason", "priority")
)


def pins(decision: Decision, situation: Situation, config: GuardrailConfig) -> Ruling:
    """Jobs that are held, or have a site factor or a priority of somebody else, leave the order."""
    by_id, suspects = situation.snapshot.by_id, _suspects(decision, situation)
    pinned = {job: reason for job in suspects if (reason := _pinned(by_id[job], situation))}
    gone = pinned.keys() | decision.untouched.keys()
    if gone.isdisjoint(decision.order) and gone.isdisjoint(decision.hints):
        return passed(NAME, decision, "no job in the order was set by hand")
    kept = replace(
        decision,
        order=tuple(job for job in decision.order if job not in gone),
        reasons={job: why for job, why in decision.reasons.items() if job not in gone},
        hints={job: hint for job, hint in decision.hints.items() if job not in gone},
        untouched={**pinned, **decision.untouched},
    )
    return amended(NAME, kept, _sentence(len(decision.order) - len(kept.order), pinned))


def _suspects(decision: Decision, situation: Situation) -> list[int]:
    """Jobs of the order with anything set that is not plainly ours: only these are looked at."""
    snapshot, own, sites = situation.snapshot, situation.own, situation.snapshot.site_factors
    odd = {job for job in snapshot.touched if job not in sites or own.get(job) != sites[job]}
    odd.update(map(_ID, snapshot.without_factors))
    ordered = [*filter(None, map(snapshot.by_id.get, decision.order))]
    held = {reason for reason in set(map(_REASON, ordered)) if reason.startswith("JobHeld")}
    if not held and 0 not in map(_PRIORITY, ordered):  # mostly: in a third of the time
        return [job for job in map(_ID, ordered) if job in odd] if odd else []
    return [job.id for job in ordered if job.id in odd or job.priority == 0 or job.reason in held]


def _pinned(job: LiveJob, situation: Situation) -> str:
    """Why the job is not ours to move; empty: it is."""
    if job.held:
        return f"held: {job.reason or 'its priority is 0'}"
    factor = situation.snapshot.factors.get(job.id)
    if factor is None:
        return ""
    if not factor.frozen and factor.site == 0:
        return ""
    # A task that Slurm split off an array brings the array's factor along, under a new number.
    ours = {situation.own[number] for number in (job.id, job.array) if number in situation.own}
    if factor.frozen and factor.priority not in ours:
        return f"priority set by hand: {factor.priority}"
    return f"site factor set by hand: {factor.site}" if factor.site not in {0, *ours} else ""


def _sentence(left: int, pinned: dict[int, str]) -> str:
    classes = Counter(reason.partition(":")[0] for reason in pinned.values())
    if left > len(pinned):
        classes["to be left untouched anyway"] = left - len(pinned)
    counts = shortened([f"{count:,} {name}" for name, count in sorted(classes.items())], most=4)
    return f"{jobs(left)} left alone" + (f": {counts}" if counts else "; their hints are dropped")
