"""Clusters of GPUs that are cut into slices: types of GPUs, their power, and how each one is cut.

cluster = MigCluster.parse("8xa100-40:1,1,2,2,3,3,12,12")
mixed = MigCluster.parse("2xa100-40:1,12 + 2xa30-24:1,4")
whole = MigCluster.parse("8xa100-40")            # one slice per GPU: no sharing
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

from dovetail.domain.errors import ClusterError
from dovetail.domain.mig import A100_40GB, MigConfiguration, MigSlice
from dovetail.domain.registry import Registry

MOST_SLICES = 7
"""No GPU is cut into more instances, nor has it more compute slices."""

_PART = re.compile(r"([0-9]{1,5})x([\w.-]+?)(?::([0-9]{1,3}(?:,[0-9]{1,3})*,?))?")
"""At most 99,999 GPUs: ten times the largest cluster, and read at once."""


@dataclass(frozen=True)
class GpuType:
    """A kind of GPU: how it can be cut, what it draws, and how fast a slice of it is."""

    name: str
    configurations: tuple[MigConfiguration, ...]  # the first is the whole GPU
    watts: tuple[float, ...]  # with 0, 1, ... compute slices busy
    memory_slice_gb: float  # a slice's place on the device is counted in these
    speed: float = 1.0  # of a slice, against one of the same size of the A100

    def __post_init__(self) -> None:
        if len(self.watts) != self.slices + 1:
            raise ClusterError(
                f"GPU type {self.name}: {len(self.watts)} power values, "
                f"expected {self.slices + 1}: with 0 to {self.slices} slices busy"
            )
        if not self.speed > 0:
            raise ClusterError(f"GPU type {self.name}: speed is {self.speed}, expected above 0")

    @property
    def slices(self) -> int:
        """Compute slices of the whole GPU."""
        return self.configurations[0].slices[0].compute

    @cached_property
    def ways(self) -> tuple[tuple[int, ...], ...]:
        """Configurations (by position) that differ in the order of slices only, together."""
        kinds: dict[tuple[MigSlice, ...], list[int]] = {}
        for position, configuration in enumerate(self.configurations):
            key = tuple(sorted(configuration.slices, key=lambda s: (-s.compute, -s.memory_gb)))
            kinds.setdefault(key, []).append(position)
        return tuple(map(tuple, kinds.values()))

    def way_of(self, number: int) -> int:
        """Which of the ways the configuration of this number (from 1) is."""
        return next(i for i, way in enumerate(self.ways) if number - 1 in way)


def _cuts(*texts: str) -> tuple[MigConfiguration, ...]:
    return tuple(
        MigConfiguration(
            number, tuple(MigSlice(*map(int, part.split("/"))) for part in text.split())
        )
        for number, text in enumerate(texts, start=1)
    )


MEASURED = (40.0, 119.0, 160.0, 205.3, 243.9, 247.7, 248.5, 248.5)
"""Watts of an A100 under its cap of 250 W, as measured; concave."""

ROUNDED = (40.0, 120.0, 160.0, 200.0, 240.0, 250.0, 250.0, 250.0)
"""The same, as the published MIG day rounds it."""

A100_40 = GpuType("a100-40", A100_40GB, MEASURED, 5.0)
A100_40_ROUNDED = GpuType("a100-40-rounded", A100_40GB, ROUNDED, 5.0)
A30_24 = GpuType(
    "a30-24",
    _cuts("4/24", "2/12 2/12", "2/12 1/6 1/6", "1/6 1/6 2/12", "1/6 1/6 1/6 1/6"),
    # No measurement is at hand: the A100's curve up to 4 slices, scaled to the A30's 165 W.
    tuple(round(165.0 / 243.9 * watts, 1) for watts in MEASURED[:5]),
    6.0,
)
"""A slice has 14 multiprocessors, as on the A100: hence the same speed."""

GPU_TYPES: Registry[GpuType] = Registry(
    "GPU type", {kind.name: kind for kind in (A100_40, A100_40_ROUNDED, A30_24)}
)


@dataclass(frozen=True)
class MigCluster:
    """GPUs side by side, each of a type and in one of its configurations (numbers from 1)."""

    types: tuple[GpuType, ...]  # of each GPU
    configurations: tuple[int, ...]  # of each GPU

    def __post_init__(self) -> None:
        if len(self.types) != len(self.configurations) or not self.types:
            raise ClusterError(
                f"{len(self.types)} GPUs and {len(self.configurations)} configurations: "
                "expected one for each GPU, and at least one GPU"
            )
        for kind, number in zip(self.types, self.configurations, strict=True):
            if not 1 <= number <= len(kind.configurations):
                raise ClusterError(
                    f"GPU type {kind.name} has no configuration {number}, "
                    f"expected 1 to {len(kind.configurations)}"
                )

    @classmethod
    def parse(cls, text: str) -> MigCluster:
        """GPUs as "8xa100-40:1,1,2,2,3,3,12,12"; several types are joined by "+"."""
        types: list[GpuType] = []
        numbers: list[int] = []
        for part in text.split("+"):
            found = _PART.fullmatch(part.strip())
            if found is None:
                raise ClusterError(
                    f"cannot read {part.strip()[:60]!r} as GPUs; write 8xa100-40:1,1,2,2,3,3,12,12 "
                    "(a number, a type, a configuration for each GPU) or 8xa100-40 for whole GPUs"
                )
            count, listed = int(found[1]), [int(n) for n in (found[3] or "1").split(",") if n]
            if len(listed) not in (1, count):
                raise ClusterError(
                    f"{part.strip()!r} names {len(listed)} configurations for {count} GPUs; "
                    "name one for each, or one for all"
                )
            types += [GPU_TYPES[found[2]]] * count
            numbers += listed * (count // len(listed))
        return cls(tuple(types), tuple(numbers))

    def with_configurations(self, numbers: Sequence[int]) -> MigCluster:
        """The same GPUs, cut otherwise."""
        return MigCluster(self.types, tuple(numbers))

    @property
    def text(self) -> str:
        """What `parse` reads."""
        cuts = zip(self.types, self.configurations, strict=True)
        parts = []
        for name, run in groupby(cuts, key=lambda cut: cut[0].name):
            numbers = [str(number) for _, number in run]
            parts.append(f"{len(numbers)}x{name}:{','.join(numbers)}")
        return " + ".join(parts)

    @property
    def slices(self) -> tuple[MigSlice, ...]:
        """All instances, GPU by GPU."""
        return tuple(
            part
            for kind, number in zip(self.types, self.configurations, strict=True)
            for part in kind.configurations[number - 1].slices
        )

    @cached_property
    def kinds(self) -> tuple[GpuType, ...]:
        """The types that occur, in order of appearance."""
        return tuple(dict.fromkeys(self.types))

    @property
    def compute(self) -> int:
        """Compute slices of all GPUs, whole."""
        return sum(kind.slices for kind in self.types)


MIG_DAY_CLUSTER = MigCluster.parse("8xa100-40-rounded:1,1,2,2,3,3,12,12")
"""The cluster of the published MIG day: 8 GPUs, 20 slices."""
