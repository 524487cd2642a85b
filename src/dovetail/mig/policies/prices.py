"""A placement by prices: what a job is worth on a slice, less the rent for the time it stays there.

    placer = priced(PriceWeights(), "by hand")                  # may wait, in order of deadlines
    placer = priced(PriceWeights(), "by hand", passes=16)       # may let others go first
    placer = priced(PriceWeights(wait=math.inf), "by hand")     # takes a slice if one is free

A job that is on time is worth 1. Tardiness, energy and rent are subtracted; a minute on a slice
costs what slices of its size cost, more when the cluster is crowded. The same is reckoned for the
busy slices, of each size the one that will be free first: if one of these is worth more, all that
is free is declined. That keeps large slices for short jobs: what a rule that only looks at what is
free cannot do. Prices belong to sizes, not to slots: they hold for any number of GPUs.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

import numpy as np

from dovetail.compiled.functions import kernel
from dovetail.domain.errors import ConfigError
from dovetail.domain.jobs import Floats
from dovetail.mig.policy import Keys, MomentRow, Placer, SliceRows, ranking

USUAL = 0.8
"""The share of compute slices that are busy at which `crowded` changes nothing."""


@dataclass(frozen=True, slots=True)
class PriceWeights:
    """The unit is a job on time. What is marked as a logarithm is always above 0."""

    rent1: float = -5.0  # logarithm: a minute on a slice of this many compute slices
    rent2: float = -4.5
    rent3: float = -4.0
    rent4: float = -4.0
    rent7: float = -3.5
    crowded: float = 0.0  # how the logarithm of all rents grows with the share that is busy
    queued: float = 0.0  # and with the logarithm of the waiting jobs per slice
    tardy: float = -4.0  # logarithm: a minute after the deadline
    energy: float = -4.0  # logarithm: 1,000 W·min
    wait: float = 0.3  # how much better a busy slice must be to wait for it; inf: never wait
    delay: float = -3.0  # logarithm: a minute of waiting
    sharp: float = 3.0  # logarithm: how sharply a minute decides between on time and late

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if math.isnan(value) or (math.isinf(value) and name != "wait"):
                raise ConfigError(f"price {name} is {value}, expected a number; train it again")


KNOWN_PRICES = PriceWeights(
    rent1=-6.3266, rent2=-4.7688, rent3=-5.113, rent4=-3.5396, rent7=-1.971, crowded=4.0292,
    queued=0.1919, tardy=-4.4691, energy=-3.8489, wait=0.2761, delay=-4.3812, sharp=2.6046,
)  # fmt: skip
"""Learned on the MIG day from exact run times; it takes estimates for the truth."""


@kernel
def _worth(p: Floats, rent: float, duration: float, lateness: float) -> float:
    """Of a job that ends so much after its deadline; times in minutes."""
    late = 1.0 / (1.0 + math.exp(min(30.0, max(-30.0, -lateness * math.exp(p[11])))))
    return 1.0 - late - math.exp(p[7]) * max(0.0, lateness) - rent * duration


@ranking
def _priced(p: Floats, moment: MomentRow, slices: SliceRows, keys: Keys) -> None:
    """What a job is worth on a slice less rent and energy; declines if a busy one is worth more."""
    now = moment[0]
    crowd = p[5] * (now.busy / now.compute - USUAL) + p[6] * math.log(1.0 + now.queued / now.slots)
    soon = (now.soon1, now.soon2, now.soon3, now.soon4, now.soon7)
    then = (now.then1, now.then2, now.then3, now.then4, now.then7)
    hope = -math.inf
    for place in range(5):
        if soon[place] < math.inf:
            rent, lateness = math.exp(p[place] + crowd), soon[place] + then[place] - now.left
            worth = _worth(p, rent, then[place] / 60.0, lateness / 60.0)
            hope = max(hope, worth - p[9] - math.exp(p[10]) * soon[place] / 60.0)
    for i in range(len(slices)):
        one = slices[i]
        rent = math.exp(p[min(one.size, 5) - 1] + crowd)
        worth = _worth(p, rent, one.duration / 60.0, one.lateness / 60.0)
        worth -= math.exp(p[8]) * one.energy / 60e3
        keys[i, 0] = np.inf if hope > worth else -worth


def priced(weights: PriceWeights, name: str, passes: int = 0) -> Placer:
    """A placement that goes by these prices."""
    return Placer(name, _priced, asdict(weights), passes=passes)
