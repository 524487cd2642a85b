"""Placements on slices by name; a new one is one function and one line here."""

from __future__ import annotations

from dovetail.domain.registry import Registry
from dovetail.mig.policies import heuristics
from dovetail.mig.policies.heuristics import marginal
from dovetail.mig.policies.prices import KNOWN_PRICES, PriceWeights, priced
from dovetail.mig.policies.unsure_prices import UnsurePrices, unsure_priced
from dovetail.mig.policy import Placer

MARGINAL_WEIGHT = 8e-4
"""Minutes of tardiness of one job for a W·min: `ENERGY_WEIGHT` x the 4,200 jobs of a MIG day."""

PLACERS: Registry[Placer] = Registry(
    "placer",
    {
        placer.name: placer
        for placer in (
            heuristics.RANDOM,
            heuristics.SMALLEST,
            heuristics.LARGEST,
            heuristics.EFT,
            heuristics.MOST_PACKED,
            marginal(MARGINAL_WEIGHT),
            heuristics.CATEGORICAL,
            priced(PriceWeights(), "prices", passes=16),
            priced(KNOWN_PRICES, "known-prices", passes=16),
            unsure_priced(UnsurePrices(), "unsure-prices", passes=16),
        )
    },
)

__all__ = ["PLACERS", "PriceWeights", "UnsurePrices", "marginal", "priced", "unsure_priced"]
