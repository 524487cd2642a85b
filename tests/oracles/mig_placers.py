"""The placements on slices again: a tuple of keys per slice, the lowest goes."""

from __future__ import annotations

import math
from typing import Any

from dovetail.mig.policies import MARGINAL_WEIGHT, PriceWeights, UnsurePrices
from dovetail.mig.policies.prices import KNOWN_PRICES
from tests.oracles.mig import Rank

Facts = dict[str, Any]


def on_time(fact: Facts) -> bool:
    return bool(fact["lateness"] <= 0)


def soonest(fact: Facts) -> tuple[float, ...]:
    return (1, fact["duration"], -fact["packed"])


def most_packed(moment: Facts, fact: Facts) -> tuple[float, ...]:
    return (0, -fact["packed"], -fact["duration"]) if on_time(fact) else soonest(fact)


def categorical(moment: Facts, fact: Facts) -> tuple[float, ...]:
    suits = {1: 7.0, 2: 3.5, 3: 2.0, 4: 1.0}[moment["category"]]
    distance = abs(fact["mean_size"] - suits)
    return (0, distance, -fact["packed"], -fact["duration"]) if on_time(fact) else soonest(fact)


def unless_late(moment: Facts, fact: Facts) -> tuple[float, ...]:
    """Declines slices on which the job would be late, unless it is late anyway or all is idle."""
    hopeless = moment["left"] < moment["shortest"] or moment["busy"] == 0
    return (math.inf,) if fact["lateness"] > 0 and not hopeless else (-fact["size"],)


def everything(moment: Facts, fact: Facts) -> tuple[float, ...]:
    """Senseless, but it depends on every fact: one that is wrong shows."""
    counts = moment["queued"] + 3 * moment["overdue"] + 5 * moment["free"] + 7 * moment["slots"]
    counts += 11 * moment["busy"] + 13 * moment["compute"] + 17 * moment["category"]
    time = moment["now"] + moment["shortest"] + min(1e6, moment["left"])
    rests = 0.0
    for size in (1, 2, 3, 4, 7):
        rests += moment["rest"].get(size, 0.0)
    time += moment["likely"] + moment["spread"] + rests
    slices = fact["size"] + fact["slices"] + fact["mean_size"] + 3.0 * fact["packed"]
    return (
        counts * fact["size"] % 5,
        (counts + slices) * (fact["duration"] + max(-1e6, fact["lateness"])) % 7.0,
        (time + fact["energy"]) % 3.0,
        fact["chance"],
    )


def worth(p: PriceWeights, rent: float, duration: float, lateness: float) -> float:
    limited = min(30.0, max(-30.0, -(lateness / 60) * math.exp(p.sharp)))
    late = 1 / (1 + math.exp(limited))
    tardiness = math.exp(p.tardy) * max(0.0, lateness / 60)
    return 1 - late - tardiness - rent * (duration / 60)


def prices(p: PriceWeights) -> Rank:
    def rank(moment: Facts, fact: Facts) -> tuple[float, ...]:
        pressure = math.log(1 + moment["queued"] / moment["slots"])
        crowd = p.crowded * (moment["busy"] / moment["compute"] - 0.8) + p.queued * pressure
        rents = {1: p.rent1, 2: p.rent2, 3: p.rent3, 4: p.rent4, 7: p.rent7}
        rent = {size: math.exp(price + crowd) for size, price in rents.items()}
        hopes = [
            worth(p, rent[size], then, soon + then - moment["left"])
            - p.wait
            - math.exp(p.delay) * soon / 60
            for size, (soon, then) in moment["later"].items()
        ]
        here = worth(p, rent[fact["size"]], fact["duration"], fact["lateness"])
        here -= math.exp(p.energy) * fact["energy"] / 60e3
        return (math.inf,) if max(hopes, default=-math.inf) > here else (-here,)

    return rank


def tardiness(lateness: float, blur: float) -> float:
    if blur <= 0 or lateness > 30 * blur:
        return max(0.0, lateness)
    return blur * math.log1p(math.exp(max(-30.0, lateness / blur)))


def unsure_worth(
    p: UnsurePrices, rent: float, duration: float, lateness: float, blur: float
) -> float:
    scale = math.sqrt(math.exp(-p.sharp) * math.exp(-p.sharp) + blur * blur)
    late = 1 / (1 + math.exp(min(30.0, max(-30.0, -lateness / scale))))
    return 1 - late - math.exp(p.tardy) * tardiness(lateness, blur) - rent * duration


def unsure_prices(p: UnsurePrices) -> Rank:
    def rank(moment: Facts, fact: Facts) -> tuple[float, ...]:
        spread, left, likely = moment["spread"], moment["left"] / 60, moment["likely"]
        mean = likely * math.exp(0.5 * min(4.0, spread * spread))
        pressure = math.log(1 + moment["queued"] / moment["slots"])
        crowd = p.crowded * (moment["busy"] / moment["compute"] - 0.8) + p.queued * pressure
        crowd += p.risk * spread
        rents = {1: p.rent1, 2: p.rent2, 3: p.rent3, 4: p.rent4, 7: p.rent7}
        rent = {size: math.exp(price + crowd) for size, price in rents.items()}
        unsure, blurred = math.exp(p.unsure) * spread, math.exp(p.blur) * spread
        hopes = []
        for size, (_, then) in moment["later"].items():
            rest = moment["rest"][size] / 60
            run = then / 60 * likely
            own, other = unsure * run, blurred * rest
            blur = math.sqrt(own * own + other * other)
            worth = unsure_worth(p, rent[size], then / 60 * mean, rest + run - left, blur)
            hopes.append(worth - p.wait - p.doubt * spread - math.exp(p.delay) * rest)
        run = fact["duration"] / 60 * likely
        here = unsure_worth(
            p, rent[fact["size"]], fact["duration"] / 60 * mean, run - left, unsure * run
        )
        here -= math.exp(p.energy) * fact["energy"] / 60e3 * mean
        return (math.inf,) if max(hopes, default=-math.inf) > here else (-here,)

    return rank


ODD_PRICES = PriceWeights(crowded=2.0, queued=-0.5, rent7=-1.0, wait=0.05, sharp=0.5)
NEVER_WAITS = PriceWeights(wait=math.inf, delay=0.0)


RANKS: dict[str, Rank] = {
    "random": lambda moment, fact: (fact["chance"],),
    "smallest-first": lambda moment, fact: (fact["size"],),
    "largest-first": lambda moment, fact: (-fact["size"],),
    "eft": lambda moment, fact: (fact["duration"],),
    "edf-most-packed": most_packed,
    "marginal-et": lambda moment, fact: (
        MARGINAL_WEIGHT * fact["energy"] + max(0.0, fact["lateness"]),
    ),
    "categorical-edf": categorical,
    "unless-late": unless_late,
    "everything": everything,
    "unless-late-passing": unless_late,
    "prices": prices(PriceWeights()),
    "known-prices": prices(KNOWN_PRICES),
    "unsure-prices": unsure_prices(UnsurePrices()),
    "odd-prices": prices(ODD_PRICES),
    "never-waits": prices(NEVER_WAITS),
}
