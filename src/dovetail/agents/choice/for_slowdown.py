"""Candidates where slowdown is wanted more than short waits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from dovetail.agents.choice.candidates import PolicyCandidate, orders
from dovetail.domain.objective import Objective
from dovetail.policies.ordering.aged_length import LIKE_SHORTEST

FOR_SLOWDOWN = tuple(ordering.name for ordering in LIKE_SHORTEST)
"""Chosen on the known parts of four histories: docs/decisions/0120."""


def slowdown_orders(estimates: str, aim: Objective) -> Iterator[PolicyCandidate]:
    """Orders like SJF, with every estimate that SJF is tried with; none if waits count as much."""
    shortest = [one for one in orders(estimates) if one.order == "sjf"]
    for order in FOR_SLOWDOWN if aim.slowdown > aim.wait else ():
        for one in shortest:
            yield replace(one, order=order)
