"""Orderings by name; a new one is one function and one line here."""

from __future__ import annotations

from typing import Any

from dovetail.domain.policy import Ordering
from dovetail.domain.registry import Registry, instances_of
from dovetail.policies.ordering import aged_estimates, aged_length, aging, static

SHIPPED_NAME = "dovetail"
SHIPPED_ABOUT = "chosen over the histories that its card names, with the estimates that suit it"
"""What the policy is called that comes with this package; see `policies.policy`."""

_orderings = instances_of(Ordering, SHIPPED_NAME)


def admit_ordering(name: str, part: Any) -> Ordering:
    """An `Ordering`, or a plain function of a job; see `policies.ordering.function`."""
    if not isinstance(part, Ordering) and callable(part):
        from dovetail.policies.ordering.function import ordering_from  # 3 ms that others spare

        part = ordering_from(part, name)
    return _orderings(name, part)


ORDERINGS: Registry[Ordering] = Registry(
    "ordering",
    {
        ordering.name: ordering
        for ordering in (
            static.FCFS,
            static.LCFS,
            static.SJF,
            static.LJF,
            static.SAF,
            static.SAF_15,
            static.SAF_2,
            aging.WFP3,
            aging.UNICEP,
            static.F1,
            aging.MULTIFACTOR,
            *aged_estimates.NEAR_SLURM,
            *aged_length.LIKE_SHORTEST,
            static.QSSF,
            static.EDF,
            static.PRIORITY,
        )
    },
    group="dovetail.orderings",
    admit=admit_ordering,
)

__all__ = ["ORDERINGS", "SHIPPED_ABOUT", "SHIPPED_NAME"]
