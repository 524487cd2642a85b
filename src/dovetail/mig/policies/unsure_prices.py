"""Prices for jobs whose run times are not known: worth is an expectation, and waiting has a risk.

    placer = unsure_priced(UnsurePrices(), "by hand", passes=16)

As `prices`, with three differences. A job's length is what history makes of its estimate, not the
estimate itself. Whether it is on time is a chance: the end is uncertain by the spread of
that length, so that the worth of a slice falls smoothly as its margin shrinks. And a busy slice is
free when its job is likely to end, given how long it has run; to wait for it, it must be the better
the less is known. Where nothing is uncertain the prices decide as before.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

import numpy as np

from dovetail.compiled.functions import kernel
from dovetail.domain.errors import ConfigError
from dovetail.domain.jobs import Floats
from dovetail.mig.policies.prices import USUAL
from dovetail.mig.policy import Keys, MomentRow, Placer, SliceRows, ranking


@dataclass(frozen=True, slots=True)
class UnsurePrices:
    """The unit is a job on time. What is marked as a logarithm is always above 0."""

    rent1: float = -6.3  # logarithm: a minute on a slice of this many compute slices
    rent2: float = -4.8
    rent3: float = -5.1
    rent4: float = -3.5
    rent7: float = -2.0
    crowded: float = 4.0  # how the logarithm of all rents grows with the share that is busy
    queued: float = 0.2  # and with the logarithm of the waiting jobs per slice
    tardy: float = -4.5  # logarithm: a minute after the deadline
    energy: float = -3.8  # logarithm: 1,000 W·min
    wait: float = 0.28  # how much better a busy slice must be to wait for it; inf: never wait
    delay: float = -4.4  # logarithm: a minute of waiting
    sharp: float = 2.6  # logarithm: how sharply a minute decides between on time and late
    unsure: float = -0.6  # logarithm: by how much the spread of a length blurs its end
    doubt: float = 0.1  # how much better still a busy slice must be for each unit of spread
    blur: float = -0.6  # logarithm: by how much the rest of a running job blurs what follows it
    risk: float = 0.0  # how the logarithm of all rents grows with the spread

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if math.isnan(value) or (math.isinf(value) and name != "wait"):
                raise ConfigError(f"price {name} is {value}, expected a number; train it again")


@kernel
def _worth(p: Floats, rent: float, duration: float, lateness: float, blur: float) -> float:
    """Of a job that ends about so much after its deadline, give or take `blur`; in minutes."""
    crisp = math.exp(-p[11])
    scale = math.sqrt(crisp * crisp + blur * blur)
    late = 1.0 / (1.0 + math.exp(min(30.0, max(-30.0, -lateness / scale))))
    return 1.0 - late - math.exp(p[7]) * _tardiness(lateness, blur) - rent * duration


@kernel
def _tardiness(lateness: float, blur: float) -> float:
    """Mean minutes after the deadline, if the end is blurred as a logistic distribution."""
    if blur <= 0.0 or lateness > 30.0 * blur:
        return max(0.0, lateness)
    return blur * math.log1p(math.exp(max(-30.0, lateness / blur)))


@ranking
def _unsure(p: Floats, moment: MomentRow, slices: SliceRows, keys: Keys) -> None:
    """Expected worth less rent and energy; declines if a busy slice is worth more."""
    now = moment[0]
    spread, left = now.spread, now.left / 60.0
    mean = now.likely * math.exp(0.5 * min(4.0, spread * spread))
    crowd = p[5] * (now.busy / now.compute - USUAL) + p[6] * math.log(1.0 + now.queued / now.slots)
    crowd += p[15] * spread
    rests = (now.rest1, now.rest2, now.rest3, now.rest4, now.rest7)
    then = (now.then1, now.then2, now.then3, now.then4, now.then7)
    unsure, blurred = math.exp(p[12]) * spread, math.exp(p[14]) * spread
    hope = -math.inf
    for place in range(5):
        if rests[place] < math.inf:
            rent, rest = math.exp(p[place] + crowd), rests[place] / 60.0
            run = then[place] / 60.0 * now.likely
            own, other = unsure * run, blurred * rest
            blur = math.sqrt(own * own + other * other)
            worth = _worth(p, rent, then[place] / 60.0 * mean, rest + run - left, blur)
            hope = max(hope, worth - p[9] - p[13] * spread - math.exp(p[10]) * rest)
    for i in range(len(slices)):
        one = slices[i]
        rent = math.exp(p[min(one.size, 5) - 1] + crowd)
        run = one.duration / 60.0 * now.likely
        worth = _worth(p, rent, one.duration / 60.0 * mean, run - left, unsure * run)
        worth -= math.exp(p[8]) * one.energy / 60e3 * mean
        keys[i, 0] = np.inf if hope > worth else -worth


def unsure_priced(weights: UnsurePrices, name: str, passes: int = 0) -> Placer:
    """A placement that goes by these prices."""
    return Placer(name, _unsure, asdict(weights), passes=passes)
