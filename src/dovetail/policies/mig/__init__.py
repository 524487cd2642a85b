"""Placements on slices by name; a new one is one function and one line here."""

from __future__ import annotations

from dovetail.domain.mig_policy import Placer
from dovetail.domain.registry import Registry
from dovetail.policies.mig import placers
from dovetail.policies.mig.placers import marginal
from dovetail.policies.mig.prices import PriceWeights, priced

MARGINAL_WEIGHT = 8e-4
"""Minutes of tardiness of one job for a W·min: `ENERGY_WEIGHT` x the 4,200 jobs of a MIG day."""

PLACERS: Registry[Placer] = Registry(
    "placer",
    {
        placer.name: placer
        for placer in (
            placers.RANDOM,
            placers.SMALLEST,
            placers.LARGEST,
            placers.EFT,
            placers.MOST_PACKED,
            marginal(MARGINAL_WEIGHT),
            placers.CATEGORICAL,
            priced(PriceWeights(), "prices", passes=16),
        )
    },
)

__all__ = ["PLACERS", "PriceWeights", "marginal", "priced"]
