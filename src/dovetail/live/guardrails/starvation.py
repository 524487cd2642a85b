"""Nobody waits for ever: jobs that have waited far longer than others did go first.

At most as many as `displacement` places surely get to the head: beyond, that guardrail keeps
Slurm's first jobs from losing more.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from dovetail.domain.units import duration
from dovetail.live.config import GuardrailConfig
from dovetail.live.guardrails.base import Ruling, Situation, amended, passed
from dovetail.live.guardrails.words import jobs, shortened
from dovetail.live.model.decision import Decision
from dovetail.live.model.snapshot import LiveJob

NAME = "starvation"

# Slurm's words for jobs that could not start at the head of the queue either: a place there
# would be lost on them.
NOT_ITS_TURN = ("Assoc", "QOS", "Max", "Dependency", "BeginTime", "JobArrayTaskLimit", "Licenses",
                "Partition", "Reservation", "BadConstraints", "JobHeld", "Account",
                "Invalid")  # fmt: skip


class Starving(NamedTuple):
    """One job that has waited too long."""

    since: float  # seconds since 1970
    job: int
    partition: str  # whose p95 was the measure
    p95: float  # seconds


def starvation(decision: Decision, situation: Situation, config: GuardrailConfig) -> Ruling:
    """Jobs waiting beyond `starvation_factor` p95 of their partition go first, oldest first."""
    hungry = starving(decision.order, situation, config)
    if not hungry:
        return passed(NAME, decision, "no job has waited too long")
    first = [item.job for item in hungry]
    order = (*first, *_without(first, decision.order))
    sentence = _sentence(hungry, config)
    if order == decision.order:
        return passed(NAME, decision, f"{sentence}: they are first already")
    now = situation.snapshot.time
    reasons = {
        item.job: f"waited {duration(now - item.since)}, beyond {config.starvation_factor:g} "
        f"times the p95 of {item.partition} ({duration(item.p95)})"
        for item in hungry
    }
    fed = replace(decision, order=order, reasons={**decision.reasons, **reasons})
    return amended(NAME, fed, f"{sentence}: they go first")


def starving(
    order: Iterable[int], situation: Situation, config: GuardrailConfig
) -> tuple[Starving, ...]:
    """The jobs of the order that have waited too long, oldest first."""
    waits = {name: p95 for name, p95 in situation.waits.items() if p95 >= 0.0}
    if not waits:
        return ()  # nothing has been measured yet: a long wait cannot be told from a usual one
    now, by_id = situation.snapshot.time, situation.snapshot.by_id
    measures: dict[tuple[str, ...], tuple[str, float]] = {}  # jobs share few sets of partitions
    found = []
    for number in order:
        job = by_id.get(number)
        if job is None or not now - (since := _since(job)) > config.starvation_floor:
            continue
        measure = measures.get(job.partitions)
        if measure is None:
            measure = measures[job.partitions] = _usual_wait(job.partitions, waits)
        partition, p95 = measure
        if now - since > config.starvation_factor * p95 and not job.reason.startswith(NOT_ITS_TURN):
            found.append(Starving(since, number, partition, p95))
    return tuple(sorted(found))


def _since(job: LiveJob) -> float:
    return job.submit if math.isnan(job.eligible) else job.eligible


def _usual_wait(partitions: tuple[str, ...], waits: dict[str, float]) -> tuple[str, float]:
    """The slowest of these partitions, and its p95; of all partitions where none is known.

    The slowest: otherwise naming a quick partition besides would be a way to the head.
    """
    known = [name for name in partitions if name in waits] or list(waits)
    slowest = max(known, key=lambda name: (waits[name], name))
    return slowest, waits[slowest]


def _without(gone: Iterable[int], order: Iterable[int]) -> Iterable[int]:
    gone = set(gone)
    return (job for job in order if job not in gone)


def _sentence(hungry: tuple[Starving, ...], config: GuardrailConfig) -> str:
    usual = dict(sorted((item.partition, item.p95) for item in hungry))
    measures = shortened([f"{name}: {duration(p95)}" for name, p95 in usual.items()])
    return (
        f"{jobs(len(hungry))} waited beyond {config.starvation_factor:g} times their "
        f"partition's p95 ({measures}) and {duration(config.starvation_floor)}"
    )
