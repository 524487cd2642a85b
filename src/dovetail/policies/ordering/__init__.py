"""Orderings by name; a new one is one function and one line here."""

from __future__ import annotations

from dovetail.domain.policy import Ordering
from dovetail.domain.registry import Registry
from dovetail.policies.ordering import aging, static
from dovetail.policies.ordering.scores import scores

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
            aging.WFP3,
            aging.UNICEP,
            static.F1,
            aging.MULTIFACTOR,
            static.QSSF,
            static.EDF,
            static.PRIORITY,
        )
    },
)

__all__ = ["ORDERINGS", "scores"]
