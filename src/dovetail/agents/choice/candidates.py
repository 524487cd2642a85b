"""What is chosen among: orderings, what of a prediction they go by, reservations, placements."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from dovetail.domain.estimates import LIMIT
from dovetail.policies.learned.checkpoint import Checkpoint
from dovetail.policies.learned.families import Learned
from dovetail.policies.ordering import ORDERINGS
from dovetail.policies.ordering.aged_estimates import NEAR_SLURM
from dovetail.policies.placement import PLACEMENTS
from dovetail.prediction.knowledge import is_predicted
from dovetail.prediction.request import Request, Summary

POWERS = {"saf": 1.0, "saf-1.5": 1.5, "saf-2": 2.0, "sjf": 0.0}
"""Orderings by an estimate times a power of the size, and that power."""

BY_ESTIMATE = tuple(POWERS)
"""Orderings that go by an estimate: what of the prediction that is matters to them.

F1 is none of them: it counts from when a replay began, so that on a part of a history it is another
order than on all of it. On KTH it led the validation part by 14 % and doubled the slowdown later.
"""

SLURM = "slurm-multifactor"
"""Whose order promises are measured by."""

BY_OTHERS = ("qssf", SLURM, "fcfs", "wfp3", "unicep")
"""Orderings that do not, or more by waiting; qssf has a prediction of its own."""

BETWEEN = tuple(ordering.name for ordering in NEAR_SLURM)
"""Orders between Slurm's and those by size: what they gain, few pay for. For who promises that."""

ORDER = ("log-mean", "mean", "median", "q80", "gittins", "smith")
RESERVE = ("q80", "median", "q90")
PLACEMENT = ("best-fit", "lifetime")
LIMIT_POWERS = (1.0, 0.667, 0.5)
"""The first of each is the usual one."""


@dataclass(frozen=True, slots=True)
class PolicyCandidate:
    """An ordering, the estimates that it and its reservations go by, and a placement."""

    order: str
    estimates: str
    placement: str
    limits: str = ""  # what it goes by where it is told limits; empty: these

    def policy(self, name: str) -> Learned:
        return Learned(replace(ORDERINGS[self.order], name=name), PLACEMENTS[self.placement])

    def checkpoint(self, card: dict[str, object]) -> Checkpoint:
        arrays = {"order": np.array(self.order), "placement": np.array(self.placement)}
        return Checkpoint("choice", arrays, card, self.estimates, self.limits)

    def __str__(self) -> str:
        if not is_predicted(self.estimates):
            return f"{self.order}@{self.placement}"
        asked = Request.parse(self.estimates)
        return (
            f"{self.order}@{self.placement} ({asked.order.name}, reservations {asked.reserve.name})"
        )


def reference(estimates: str) -> PolicyCandidate:
    """What all candidates are compared with: SAF, the strongest single heuristic."""
    return PolicyCandidate("saf", usual(estimates), PLACEMENT[0])


def heuristics(estimates: str) -> Iterator[PolicyCandidate]:
    """Every ordering as it is usually run."""
    for order in (*BY_ESTIMATE, *BY_OTHERS):
        yield PolicyCandidate(order, usual(estimates), PLACEMENT[0])


def gentle(estimates: str) -> Iterator[PolicyCandidate]:
    """Slurm's own order, and those that are not far from it."""
    for order in (SLURM, *BETWEEN):
        yield PolicyCandidate(order, usual(estimates), PLACEMENT[0])


def usual(estimates: str) -> str:
    """What orderings and reservations usually go by."""
    return _spec(estimates, ORDER[0], RESERVE[0])


def orders(estimates: str) -> Iterator[PolicyCandidate]:
    """Every ordering with every estimate for the order; reservations and nodes as usual."""
    for order in BY_ESTIMATE:
        for summary in ORDER if is_predicted(estimates) else ORDER[:1]:
            yield PolicyCandidate(order, _spec(estimates, summary, RESERVE[0]), PLACEMENT[0])
    for order in BY_OTHERS:
        yield PolicyCandidate(order, usual(estimates), PLACEMENT[0])


def variants(
    candidate: PolicyCandidate, placements: tuple[str, ...] = PLACEMENT
) -> Iterator[PolicyCandidate]:
    """The same order with every estimate for reservations and every placement."""
    for placement in placements:
        if not is_predicted(candidate.estimates):
            yield replace(candidate, placement=placement)
            continue
        asked = Request.parse(candidate.estimates)
        for summary in RESERVE:
            spec = _spec(candidate.estimates, asked.order.name, summary)
            yield replace(candidate, estimates=spec, placement=placement)


def beliefs(candidate: PolicyCandidate) -> Iterator[PolicyCandidate]:
    """The same order and placement by limits that are believed, less believed, and hardly."""
    for power in LIMIT_POWERS if candidate.order in BY_ESTIMATE else LIMIT_POWERS[:1]:
        yield replace(candidate, estimates=LIMIT if power == 1.0 else f"{LIMIT}:power={power:g}")


def _spec(estimates: str, order: str, reserve: str) -> str:
    """Estimates of the same kind with these summaries; what is no prediction has none."""
    if not is_predicted(estimates):
        return estimates
    asked = Request.parse(estimates)
    return replace(asked, order=Summary(order), reserve=Summary(reserve)).spec
