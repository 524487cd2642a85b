"""What a GPU can be cut into: slices, the profiles that NVIDIA names, and ways of cutting."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple


class MigRule(StrEnum):
    """What a cut can break."""

    UNKNOWN_PROFILE = "unknown profile"
    TOO_MANY = "too many of a profile"
    COMPUTE = "compute slices exceeded"
    MEMORY = "memory slices exceeded"
    START = "illegal start"
    OVERLAP = "overlap"
    ARRANGEMENT = "no legal arrangement"


@dataclass(frozen=True)
class MigSlice:
    """One instance: its compute slices and its memory."""

    compute: int
    memory_gb: int

    @property
    def profile(self) -> str:
        """NVIDIA's name for it, as Slurm and mig-parted spell it."""
        return f"{self.compute}g.{self.memory_gb}gb"


@dataclass(frozen=True)
class MigConfiguration:
    """One way of cutting a GPU, slices in their order on the device."""

    number: int
    slices: tuple[MigSlice, ...]

    @cached_property
    def counts(self) -> dict[str, int]:
        """How many slices of each profile, as mig-parted writes it."""
        counts: dict[str, int] = {}
        for part in self.slices:
            counts[part.profile] = counts.get(part.profile, 0) + 1
        return counts


class InstancePlacement(NamedTuple):
    """An instance and the memory slice it begins at."""

    profile: str
    start: int


@dataclass(frozen=True)
class MigProfile:
    """A kind of instance: its size, and where it may begin."""

    slice: MigSlice
    memory_slices: int
    starts: tuple[int, ...]

    @property
    def name(self) -> str:
        return self.slice.profile

    @property
    def compute(self) -> int:
        return self.slice.compute

    def room(self, start: int) -> range:
        """The memory slices it takes there."""
        return range(start, start + self.memory_slices)
