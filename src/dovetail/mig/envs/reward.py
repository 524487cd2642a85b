"""What a placement is worth, as parts that can be replaced.

| reward    | per step                                                                  |
|-----------|---------------------------------------------------------------------------|
| paper     | the published one: larger slices, on time, jobs ended; a sum at the end   |
| immediate | minus lateness of the job placed and energy used, at once; the sum over a |
|           | day is the objective, whatever the order in which jobs end                |
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numba
import numpy as np
from numba import carray, types

from dovetail.compiled.functions import LazyFunction
from dovetail.compiled.tables import Row, dtype_of
from dovetail.domain.jobs import Floats
from dovetail.domain.registry import Registry
from dovetail.mig.metrics import ENERGY_WEIGHT


class StepFacts(Row):
    """What one step did. Times in minutes, energy in W·min."""

    size: float  # share of the GPU that the slice is; 0: the action was to wait
    lateness: float  # of the job placed, when it ends; below 0: early; waiting: 0
    placed: bool
    ended: int  # jobs that ended during the step
    ended_late: int
    tardiness: float  # summed over these
    energy: float  # used during the step
    over: bool  # the day has ended: what follows is of the whole of it
    jobs: int
    day_late: int
    day_tardiness: float
    day_energy: float


REWARD = types.float64(
    types.CPointer(types.float64),  # parameters
    types.CPointer(numba.from_dtype(dtype_of(StepFacts))),  # one row
)


def rewarding(function: Callable[..., float]) -> LazyFunction:
    """A reward; arguments as in REWARD."""
    return LazyFunction(REWARD, function)


@dataclass(frozen=True, slots=True)
class MigReward:
    """A reward for each step."""

    name: str
    measure: LazyFunction  # made by `rewarding`
    parameters: Mapping[str, float] = field(default_factory=dict)

    def numbers(self) -> Floats:
        return np.array([*self.parameters.values()], np.float64)


@rewarding
def _paper(p: Any, step: Any) -> float:
    one = carray(step, (1,))[0]
    if one.over:
        on_time = 1.0 - one.day_late / one.jobs
        return float(p[4] * on_time - (one.day_tardiness + p[5] * one.day_energy) / one.jobs)
    bonus = p[1] if one.placed and one.lateness <= 0.0 else 0.0
    ended = p[2] * (one.ended - one.ended_late) - p[3] * one.tardiness
    return float(p[0] * one.size + bonus + ended)


@rewarding
def _immediate(p: Any, step: Any) -> float:
    one = carray(step, (1,))[0]
    late = 1.0 if one.lateness > 0.0 else 0.0
    return -float(p[0] * late + p[1] * max(0.0, one.lateness) + p[2] * one.energy)


PAPER = MigReward(
    "paper",
    _paper,
    {
        "size": 0.01,
        "on_time": 0.05,
        "ended_on_time": 0.1,
        "tardiness": 0.2,
        "day_on_time": 10.0,
        "day_energy": 2.25e-5,
    },
)


def immediate(
    late: float = 1.0, tardiness: float = 0.0, energy: float = 4200 * ENERGY_WEIGHT
) -> MigReward:
    """A late job, a minute of tardiness and a W·min, each with its price."""
    prices = {"late": late, "tardiness": tardiness, "energy": energy}
    return MigReward("immediate", _immediate, prices)


MIG_REWARDS: Registry[MigReward] = Registry(
    "MIG reward", {"paper": PAPER, "immediate": immediate()}
)
