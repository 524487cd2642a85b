"""Trained placements on slices: how a vector becomes a placement, and where checkpoints lie.

rule = WAITING_RULES["pass"]
placer = rule.placer(rule.start, "untrained")
placer = placer_named("dovetail")          # the shipped one; or "eft", or a checkpoint's folder
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dovetail.domain.errors import ConfigError
from dovetail.domain.jobs import Floats
from dovetail.domain.registry import Registry
from dovetail.mig.policies import PLACERS
from dovetail.mig.policies.prices import PriceWeights, priced
from dovetail.mig.policies.unsure_prices import UnsurePrices, unsure_priced
from dovetail.mig.policy import Placer
from dovetail.policies.learned.checkpoint import Checkpoint, load_checkpoint
from dovetail.policies.learned.models import Arrays

SHIPPED_NAME = "dovetail"
SHIPPED = Path(__file__).parent / "shipped"
"""Prices learned on the MIG day."""

WEIGHTS = "weights"
PASSES = 16
"""Jobs passed over between two events. Of the jobs of ten MIG days 18.1 % were late with 0, 9.2 %
with 4, 8.6 % with 16, and 8.6 % with 64."""

SCALES = {"tardy": 0.7, "wait": 0.3, "doubt": 0.3, "risk": 0.5}
"""By how much a price is varied at first, in units of a search's spread; the others by 1."""

LIMIT = 30.0
"""No weight is larger: exp() must not overflow wherever a search goes."""


class Prices(NamedTuple):
    """A kind of prices: its weights, and the placement that goes by them."""

    weights: Any  # a dataclass of numbers
    placer: Callable[[Any, str, int], Placer]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(part.name for part in fields(self.weights))


KNOWN = Prices(PriceWeights, priced)
UNCERTAIN = Prices(UnsurePrices, unsure_priced)


@dataclass(frozen=True, slots=True)
class WaitingRule:
    """What a placement may do besides taking a free slice."""

    name: str
    passes: int = 0
    fixed: Mapping[str, float] = field(default_factory=dict)  # weights that are not learned
    prices: Prices = KNOWN

    @property
    def varied(self) -> tuple[str, ...]:
        """The weights that are learned."""
        return tuple(name for name in self.prices.names if name not in self.fixed)

    @property
    def start(self) -> Floats:
        weights = self.prices.weights()
        return np.array([getattr(weights, name) for name in self.varied])

    @property
    def scale(self) -> Floats:
        return np.array([SCALES.get(name, 1.0) for name in self.varied])

    def weights(self, vector: Floats) -> Any:
        """The prices of a vector."""
        if vector.shape != (len(self.varied),):
            raise ConfigError(
                f"prices of shape {vector.shape}, expected {len(self.varied)}; train it again"
            )
        limited = np.clip(vector, -LIMIT, LIMIT).tolist()
        return self.prices.weights(**dict(zip(self.varied, limited, strict=True)), **self.fixed)

    def placer(self, vector: Floats, name: str) -> Placer:
        return self.prices.placer(self.weights(vector), name, self.passes)


WAITING_RULES: Registry[WaitingRule] = Registry(
    "waiting rule",
    {
        rule.name: rule
        for rule in (
            WaitingRule("place", fixed={"wait": math.inf, "delay": 0.0}),
            WaitingRule("wait"),
            WaitingRule("pass", PASSES),
            WaitingRule("unsure", PASSES, prices=UNCERTAIN),
        )
    },
)
"""place: the earliest deadline takes a free slice, always. wait: it may wait for a busy one, and
all others with it. pass: while it waits, jobs with later deadlines may go first. unsure: the same
by prices that know how uncertain run times are."""


def place(arrays: Arrays, name: str) -> Placer:
    """Ten prices choose a free slice for the job with the earliest deadline."""
    return _placer(WAITING_RULES["place"], arrays, name)


def wait(arrays: Arrays, name: str) -> Placer:
    """Twelve prices choose a free slice for the job with the earliest deadline, or let it wait."""
    return _placer(WAITING_RULES["wait"], arrays, name)


def passing(arrays: Arrays, name: str) -> Placer:
    """Twelve prices choose a slice for a job, or let it wait and others go first."""
    return _placer(WAITING_RULES["pass"], arrays, name)


def unsure(arrays: Arrays, name: str) -> Placer:
    """Sixteen prices choose a slice for a job whose run time is uncertain, or let it wait."""
    return _placer(WAITING_RULES["unsure"], arrays, name)


def _placer(rule: WaitingRule, arrays: Arrays, name: str) -> Placer:
    found, expected = arrays.get(WEIGHTS, np.empty(0)), len(rule.prices.names)
    if found.shape != (expected,) or found.dtype != np.float64:
        raise ConfigError(
            f"{name}: weights of shape {found.shape} and type {found.dtype}, "
            f"expected {expected} numbers; train it again"
        )
    return rule.prices.placer(rule.prices.weights(*found.tolist()), name, rule.passes)


PLACER_MODELS: Registry[Callable[[Arrays, str], Placer]] = Registry(
    "kind of placement",
    {"mig-place": place, "mig-wait": wait, "mig-pass": passing, "mig-unsure": unsure},
)


def load_placement(folder: Path) -> Checkpoint:
    return load_checkpoint(folder, PLACER_MODELS)


def placer_named(text: str) -> Placer:
    """A placement by name, the shipped one, or one from a checkpoint's folder."""
    folder = SHIPPED if text == SHIPPED_NAME else Path(text)
    if text in PLACERS or not folder.is_dir():
        return PLACERS[text]
    found = load_placement(folder)
    return PLACER_MODELS[found.kind](found.arrays, text)
