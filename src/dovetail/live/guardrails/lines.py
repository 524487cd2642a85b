"""Nobody passes a job of another class: partition tier, QOS, and what else the site says binds.

The jobs of a class get, in our order, exactly the places that Slurm gave to jobs of that class. So
no job of a low QOS goes before one of a high QOS unless Slurm itself lets it, by age for instance.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter

from dovetail.live.config import GuardrailConfig
from dovetail.live.guardrails.base import Ruling, Situation, amended, passed
from dovetail.live.guardrails.displacement import latest_places
from dovetail.live.guardrails.latest_places import meet
from dovetail.live.guardrails.slurm_order import places, slurm_order
from dovetail.live.guardrails.words import jobs
from dovetail.live.model.decision import Decision
from dovetail.live.model.snapshot import LiveJob, Snapshot

NAME = "lines"

Kind = tuple[tuple[str, ...], str, str]
"""Partitions, QOS and account of a job."""
_KIND = itemgetter(*map(LiveJob._fields.index, ("partitions", "qos", "account")))

Line = tuple[object, ...]
"""What binds of one job; jobs with equal ones may pass each other."""


def lines(decision: Decision, situation: Situation, config: GuardrailConfig) -> Ruling:
    """The order nearest to the policy's in which classes keep the places that Slurm gave them."""
    line = lines_in(decision.order, situation, config.binding)
    if len(set(line.values())) < 2:
        return passed(NAME, decision, "all jobs are alike in what binds")
    own = slurm_order(decision.order, situation)
    classes: dict[Line, list[int]] = {}  # places of each class, first to last
    for place, job in enumerate(own):
        classes.setdefault(line[job], []).append(place)
    wish: dict[Line, list[int]] = {}
    for job in decision.order:
        wish.setdefault(line[job], []).append(job)
    latest = latest_places(own, situation, config)
    order = [0] * len(own)
    for key, taken in classes.items():
        # The last of its class's places that a job may get, counted within the class.
        ranks = {job: bisect_right(taken, latest[job]) - 1 for job in wish[key]}
        for place, job in zip(taken, meet(wish[key], ranks), strict=True):
            order[place] = job
    if tuple(order) == decision.order:
        return passed(NAME, decision, f"{len(classes)} classes kept apart already")
    wished = places(decision.order)
    moved = sum(wished[job] != place for place, job in enumerate(order))
    return amended(
        NAME,
        replace(decision, order=tuple(order)),
        f"{len(classes)} classes by {', '.join(config.binding)} kept apart: "
        f"{jobs(moved)} stand elsewhere than the policy wanted",
    )


def lines_in(
    order: Sequence[int], situation: Situation, binding: tuple[str, ...]
) -> Mapping[int, Line]:
    """What binds of each job; of the same jobs it is worked out once in a cycle."""
    key = frozenset(order), binding
    found = situation.lines.get(key)
    if found is None:
        found = situation.lines[key] = lines_of(order, situation.snapshot, binding)
    return found


def lines_of(
    order: Sequence[int], snapshot: Snapshot, binding: tuple[str, ...]
) -> Mapping[int, Line]:
    """What binds of each job, by its number."""
    tiers = {part.name: part.tier for part in snapshot.partitions}
    qos, by_id = snapshot.qos_factors, snapshot.by_id
    facts: Mapping[str, Callable[[Kind], object]] = {
        "tier": lambda kind: max((tiers.get(name, 1) for name in kind[0]), default=1),
        "qos": lambda kind: qos.get(kind[1], 0),
        "partition": lambda kind: kind[0],
        "account": lambda kind: kind[2],
    }
    found = map(by_id.get, order)
    kinds: list[Kind | None] = [None if job is None else _KIND(job) for job in found]
    lines = {
        kind: () if kind is None else tuple(facts[name](kind) for name in binding)
        for kind in set(kinds)  # few
    }
    return dict(zip(order, map(lines.__getitem__, kinds), strict=True))
