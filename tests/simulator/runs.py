"""How tests call the simulators: policies by name, answers in the oracle's form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Protocol

from dovetail.domain.cluster import Cluster
from dovetail.domain.estimates import Estimates
from dovetail.domain.policy import Backfill, BackfillRule
from dovetail.domain.schedule import Schedule
from dovetail.domain.trace import Trace
from dovetail.policies.ordering import ORDERINGS
from dovetail.policies.ordering.as_configured import SlurmSettings, as_configured
from dovetail.policies.placement import PLACEMENTS
from dovetail.prediction import HISTORY
from dovetail.simulator import simulate
from tests.builders import JobRow
from tests.oracles.answers import answer_of
from tests.oracles.simulator import Answer
from tests.simulator.careful import CAREFUL
from tests.simulator.knowing import KNOWING

Affinity = Mapping[str, tuple[str, ...]]
PREFERRING = [name for name, placement in PLACEMENTS.items() if placement.optimiser is None]
"""Placements that the oracle has a twin of; of those that plan it cannot foretell the nodes."""

CONFIGURED = as_configured(SlurmSettings(age=1000.0, fair_share=3000.0))
OTHERS = {each.name: each for each in (CAREFUL, KNOWING, CONFIGURED)}
"""Orderings that are no entry of the registry."""


class Run(Protocol):
    """Simulate these jobs on this cluster."""

    def __call__(
        self,
        cluster: Cluster | str,
        *rows: JobRow,
        ordering: str = "fcfs",
        placement: str = "first-available",
        backfill: Backfill = Backfill.NONE,
        affinity: Affinity | None = None,
    ) -> Answer: ...


def compiled_schedule(
    trace: Trace,
    cluster: Cluster,
    ordering: str,
    placement: str,
    backfill: BackfillRule,
    estimates: Estimates,
    affinity: Affinity | None = None,
) -> Schedule:
    """The schedule; `affinity` replaces the placement's own, and history is always at hand."""
    place = replace(PLACEMENTS[placement], affinity=affinity or {})
    order = OTHERS[ordering] if ordering in OTHERS else ORDERINGS[ordering]
    return simulate(trace, cluster, order, place, backfill, estimates, HISTORY)


def compiled(
    trace: Trace,
    cluster: Cluster,
    ordering: str,
    placement: str,
    backfill: BackfillRule,
    estimates: Estimates,
    affinity: Affinity | None = None,
) -> Answer:
    """The schedule, in the oracle's form."""
    return answer_of(
        compiled_schedule(trace, cluster, ordering, placement, backfill, estimates, affinity)
    )
