"""Control of sliced GPUs that can be learned: a vector becomes a controller and a placement.

    control = CONTROLS["joint"]
    policy = control.policy(control.start, "untrained", every=5, likely=3)
    schedule = simulate_mig(day, cluster, policy.placer, policy.field)

A way of cutting a GPU is worth what its slices are worth, plus something of its own; what a slice
of each size is worth follows from the moment (see `TOLD`). That is a third of the numbers that a
score for each way would take, and ways that are rarely tried learn from the others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from dovetail.domain.errors import ConfigError
from dovetail.domain.jobs import Floats
from dovetail.domain.registry import Registry
from dovetail.mig.gpus.model import GpuModel
from dovetail.mig.gpus.table import A100_40
from dovetail.mig.mean_field import MeanField
from dovetail.mig.policies import PLACERS
from dovetail.mig.policies.controllers import TOLD, matrix_field, score_field
from dovetail.mig.policies.learned.placement import WAITING_RULES
from dovetail.mig.policy import Placer
from dovetail.mig.workload.jobs import SIZES
from dovetail.policies.learned.checkpoint import Checkpoint, load_checkpoint
from dovetail.policies.learned.models import Arrays

STATIC_PLACER = PLACERS["categorical-edf"]
"""The placement under a controller that is learned alone."""

PLACING = WAITING_RULES["pass"]
WAYS = len(A100_40.ways)
WORTHS = (len(SIZES), len(TOLD))

FIRST_GUESS = {"7": 9.0, "4 3": 6.0, "4 2 1": 1.5, "3 2 2": 0.0}
"""What these ways are worth when nothing happens: large slices at night; the others less."""

OTHERS = -3.0
BY_ARRIVALS = (1.5, 1.0, -0.6, -2.2, -7.5)
"""How a slice of each size gains as more jobs arrive: measured hour by hour, uniform clusters of
7 are best below 2 jobs a minute on 8 GPUs, 4 3 up to 3.5, and 3 2 2 above."""


class MigPolicy(NamedTuple):
    """How jobs are placed and GPUs are cut; no controller: they stay as they are."""

    placer: Placer
    field: MeanField | None


class VectorPart(NamedTuple):
    """A part of the vector: where a search begins, and by how much each number varies at first."""

    name: str
    start: Floats
    scale: Floats


def slices_of(kind: GpuModel) -> Floats:
    """[ways, SIZES] how many slices of each size a way has."""
    table = np.zeros((len(kind.ways), len(SIZES)))
    for row, way in enumerate(kind.ways):
        for part in kind.configurations[way[0]].slices:
            table[row, SIZES.index(part.compute)] += 1
    return table


def _first_repartition() -> Floats:
    own = np.full(WAYS, OTHERS)
    for row, way in enumerate(A100_40.ways):
        sizes = sorted(
            (part.compute for part in A100_40.configurations[way[0]].slices), reverse=True
        )
        own[row] = FIRST_GUESS.get(" ".join(map(str, sizes)), OTHERS)
    worth = np.zeros(WORTHS)
    worth[:, TOLD.index("arrivals")] = BY_ARRIVALS
    return np.concatenate(([2.0, 2.0], own, worth.ravel()))


_START = _first_repartition()
PARTS: Registry[VectorPart] = Registry(
    "part",
    {
        part.name: part
        for part in (
            VectorPart("repartition", _START, np.ones(len(_START))),
            VectorPart("placement", PLACING.start, PLACING.scale),
        )
    },
)


def repartition(vector: Floats, name: str, every: int, likely: int) -> MeanField:
    """vector: what staying is worth, what crowding costs, ways' own worths, worths of slices."""
    expected = len(PARTS["repartition"].start)
    if vector.shape != (expected,):
        raise ConfigError(f"{name}: weights of shape {vector.shape}, expected ({expected},)")
    weights = np.empty((WAYS, 1 + len(TOLD)))
    weights[:, 0] = vector[1]
    weights[:, 1:] = slices_of(A100_40) @ vector[2 + WAYS :].reshape(WORTHS)
    weights[:, 1] += vector[2 : 2 + WAYS]
    return score_field(weights, name, float(vector[0]), every, likely)


def policy_of(parts: Mapping[str, Floats], name: str, every: int, likely: int) -> MigPolicy:
    """A policy from the parts that are learned; the other is what it is without learning."""
    placed, cut = parts.get("placement"), parts.get("repartition")
    return MigPolicy(
        placer=STATIC_PLACER if placed is None else PLACING.placer(placed, name),
        field=None if cut is None else repartition(cut, name, every, likely),
    )


@dataclass(frozen=True, slots=True)
class Control:
    """What is learned, as one vector: its parts one after the other."""

    name: str
    parts: tuple[str, ...]

    @property
    def start(self) -> Floats:
        return np.concatenate([PARTS[name].start for name in self.parts])

    @property
    def scale(self) -> Floats:
        return np.concatenate([PARTS[name].scale for name in self.parts])

    def split(self, vector: Floats) -> dict[str, Floats]:
        """The parts of a vector by name."""
        ends = np.cumsum([len(PARTS[name].start) for name in self.parts])[:-1]
        return dict(zip(self.parts, np.split(vector, ends), strict=True))

    def learns(self, turn: str) -> Floats:
        """[vector] whether a number is learned in this turn: that of one part, or of all."""
        return np.concatenate(
            [np.full(len(PARTS[name].start), turn in (name, BOTH)) for name in self.parts]
        )

    def policy(self, vector: Floats, name: str, every: int, likely: int) -> MigPolicy:
        return policy_of(self.split(vector), name, every, likely)


BOTH = "both"
CONTROLS: Registry[Control] = Registry(
    "control",
    {
        control.name: control
        for control in (
            Control("repartition", ("repartition",)),
            Control("placement", ("placement",)),
            Control("joint", ("repartition", "placement")),
        )
    },
)


def learned(arrays: Arrays, name: str) -> MigPolicy:
    """One matrix for all GPUs from what ways are worth, prices for placements, or both."""
    every, likely = _asked(arrays, name)
    parts = {part: _numbers(arrays, part, name) for part in PARTS if part in arrays}
    return policy_of(parts, name, every, likely)


def published(arrays: Arrays, name: str) -> MigPolicy:
    """The published mean-field controller: a network from distributions to one matrix."""
    every, likely = _asked(arrays, name)
    layers: list[tuple[Floats, Floats]] = []
    while f"weights{len(layers)}" in arrays:
        number = len(layers)
        layers.append(
            (
                _numbers(arrays, f"weights{number}", name, 2),
                _numbers(arrays, f"biases{number}", name),
            )
        )
    return MigPolicy(STATIC_PLACER, matrix_field(layers, name, every, likely))


def _asked(arrays: Arrays, name: str) -> tuple[int, int]:
    """How often a controller is asked, and among how many ways a GPU draws."""
    found = _numbers(arrays, "asked", name)
    if found.shape != (2,) or not np.all((found >= 1) & (found <= 1e9)):
        raise ConfigError(f"{name}: asked is not two numbers of 1 or more; train it again")
    return int(found[0]), int(found[1])


def _numbers(arrays: Arrays, key: str, name: str, dimensions: int = 1) -> Floats:
    found = arrays.get(key, np.empty(0))
    proper = found.dtype == np.float64 and found.ndim == dimensions and found.size > 0
    if not proper or not np.all(np.isfinite(found)):
        raise ConfigError(f"{name}: {key} is missing or not of finite numbers; train it again")
    return found


CONTROL_MODELS: Registry[Callable[[Arrays, str], MigPolicy]] = Registry(
    "kind of control", {"mig-control": learned, "mig-published": published}
)


def load_control(folder: Path) -> tuple[MigPolicy, Checkpoint]:
    """A learned control, and what its checkpoint says of it."""
    found = load_checkpoint(folder, CONTROL_MODELS)
    return CONTROL_MODELS[found.kind](found.arrays, str(folder)), found
