"""Nobody passes a job of another class: partition tier, QOS, and what else the site says binds.

The jobs of a class get, in our order, exactly the places that Slurm gave to jobs of that class. So
no job of a low QOS goes before one of a high QOS unless Slurm itself lets it, by age for instance.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import replace

from dovetail.live.config import GuardrailConfig
from dovetail.live.guardrails.base import Ruling, Situation, amended, passed
from dovetail.live.guardrails.displacement import latest_places
from dovetail.live.guardrails.latest_places import meet
from dovetail.live.guardrails.slurm_order import places, slurm_order
from dovetail.live.guardrails.words import jobs, some
from dovetail.live.model.decision import Decision
from dovetail.live.model.snapshot import LiveJob, Snapshot

NAME = "lines"

Line = tuple[object, ...]
"""What binds of one job; jobs with equal ones may pass each other."""


def lines(decision: Decision, situation: Situation, config: GuardrailConfig) -> Ruling:
    """The order nearest to the wish in which every class keeps the places that Slurm gave it."""
    line = line_of(situation.snapshot, config.binding)
    own = slurm_order(decision.order, situation)
    classes: dict[Line, list[int]] = {}  # places of each class, first to last
    for place, job in enumerate(own):
        classes.setdefault(line(job), []).append(place)
    if len(classes) < 2:
        return passed(NAME, decision, "all jobs are alike in what binds")
    wish: dict[Line, list[int]] = {}
    for job in decision.order:
        wish.setdefault(line(job), []).append(job)
    latest = latest_places(own, situation, config)
    order = [0] * len(own)
    for key, taken in classes.items():
        # The last of its class's places that a job may get, counted within the class.
        ranks = {job: bisect_right(taken, latest[job]) - 1 for job in wish[key]}
        for place, job in zip(taken, meet(wish[key], ranks), strict=True):
            order[place] = job
    if tuple(order) == decision.order:
        return passed(NAME, decision, f"{some(len(classes), 'class')} kept apart already")
    wished = places(decision.order)
    moved = sum(wished[job] != place for place, job in enumerate(order))
    return amended(
        NAME,
        replace(decision, order=tuple(order)),
        f"{some(len(classes), 'class')} by {', '.join(config.binding)} kept apart: "
        f"{jobs(moved)} stand elsewhere than the policy wished",
    )


def line_of(snapshot: Snapshot, binding: tuple[str, ...]) -> Callable[[int], Line]:
    """What binds of a job, by its number."""
    tiers = {part.name: part.tier for part in snapshot.partitions}
    qos, by_id = snapshot.qos_factors, snapshot.by_id
    facts: Mapping[str, Callable[[LiveJob], object]] = {
        "tier": lambda job: max((tiers.get(name, 1) for name in job.partitions), default=1),
        "qos": lambda job: qos.get(job.qos, 0),
        "partition": lambda job: job.partitions,
        "account": lambda job: job.account,
    }
    chosen = [facts[name] for name in binding]
    known: dict[tuple[tuple[str, ...], str, str], Line] = {}  # few differ

    def line(number: int) -> Line:
        job = by_id.get(number)
        if job is None:
            return ()
        key = (job.partitions, job.qos, job.account)
        found = known.get(key)
        if found is None:
            found = known[key] = tuple(fact(job) for fact in chosen)
        return found

    return line
