"""Doubtful readings are taken out, counted by what is wrong with them, and shown.

>>> from dovetail.telemetry.readings import GpuLabels, GpuName, ReadingsBuilder
>>> builder = ReadingsBuilder(time=60.0)
>>> row = builder.row(GpuName("n1", "0"), GpuLabels())
>>> builder.put(row, COLUMN["utilisation"], 7.0, 59.0)
>>> checked = check(builder.build())
>>> checked.faults[ReadingFault.OUT_OF_RANGE, "utilisation"], checked.good
(1, 0)
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from dovetail.domain.errors import ConfigError
from dovetail.domain.jobs import Bools, Floats
from dovetail.telemetry.quantities import COLUMN, QUANTITIES
from dovetail.telemetry.readings import Readings

LOW = np.array([quantity.low for quantity in QUANTITIES.values()])
HIGH = np.array([quantity.high for quantity in QUANTITIES.values()])

OVERSHOOT = 0.02
"""Of the range: by so much a value may lie outside and is then clipped; counters round so."""

MEMORY_BUSY = 0.5
"""A GPU whose memory moves data in half of all cycles and on which no kernel runs is a lie."""


class ReadingFault(Enum):
    """What can be wrong with a reading; in each case it counts as not known."""

    MISSING = "missing"  # other GPUs have it, this one does not
    STALE = "stale"  # measured too long ago, or in the future
    NOT_A_NUMBER = "not a number"  # NaN or infinite
    OUT_OF_RANGE = "out of range"  # beyond what hardware can be
    CONTRADICTORY = "contradictory"  # told twice, differently, or against another quantity


@dataclass(frozen=True, slots=True)
class CheckConfig:
    """How old a reading may be."""

    max_age: float = 120.0  # seconds; exporters are scraped every 10 to 60

    def __post_init__(self) -> None:
        if not 0 < self.max_age < math.inf:
            raise ConfigError(f"max_age is {self.max_age}, expected seconds above 0")


@dataclass(frozen=True, slots=True)
class Checked:
    """Readings that can be used, and how many were taken out for which reason."""

    readings: Readings
    faults: Mapping[tuple[ReadingFault, str], int]  # by fault and quantity, those above 0
    good: int  # readings that stayed

    def sentence(self) -> str:
        """In words, worst first."""
        count = len(self.readings)
        said = f"{self.good:,} good readings of {count:,} GPUs"
        worst = sorted(self.faults.items(), key=lambda item: -item[1])
        parts = [f"{number:,} {fault.value} ({name})" for (fault, name), number in worst]
        parts += [f"{number:,} {why}" for why, number in self.readings.unreadable.items()]
        return f"{said}; left out: {', '.join(parts)}" if parts else said


def check(readings: Readings, config: CheckConfig | None = None) -> Checked:
    """Take out what cannot be believed."""
    config = config or CheckConfig()
    values = readings.values.copy()
    told = ~np.isnan(values)
    offered = told.any(axis=0)  # a quantity that nobody tells is not missing anywhere
    for row, column in readings.differing:
        told[row, column] = True
    found: dict[ReadingFault, Bools] = {}
    found[ReadingFault.MISSING] = ~told & offered
    with np.errstate(invalid="ignore"):
        age = readings.time - readings.taken
        old = (age > config.max_age) | (age < -config.max_age)
        found[ReadingFault.STALE] = told & old[:, None]
        infinite = np.isinf(values)
        slack = OVERSHOOT * (HIGH - LOW)
        outside = (values < LOW - slack) | (values > HIGH + slack)
    found[ReadingFault.NOT_A_NUMBER] = infinite
    found[ReadingFault.OUT_OF_RANGE] = outside & ~infinite
    found[ReadingFault.CONTRADICTORY] = _contradictory(readings, values)
    faults: dict[tuple[ReadingFault, str], int] = {}
    taken_out = np.zeros(values.shape, np.bool_)
    for fault, cells in found.items():
        fresh = cells & ~taken_out  # each reading is counted once, by the first fault it has
        taken_out |= cells
        for name, number in zip(QUANTITIES, fresh.sum(axis=0).tolist(), strict=True):
            if number:
                faults[fault, name] = number
    values[taken_out] = np.nan
    np.clip(values, LOW, HIGH, out=values)
    good = int((~np.isnan(values)).sum())
    return Checked(replace(readings, values=values), faults, good)


def _contradictory(readings: Readings, values: Floats) -> Bools:
    cells = np.zeros(values.shape, np.bool_)
    for row, column in readings.differing:
        cells[row, column] = True
    busy, moved = COLUMN["utilisation"], COLUMN["dram_active"]
    with np.errstate(invalid="ignore"):
        lie = (values[:, busy] == 0.0) & (values[:, moved] > MEMORY_BUSY)
    cells[lie, busy] = cells[lie, moved] = True
    return cells
