"""Multi-instance GPUs: the slices that a GPU can be cut into, and the ways of cutting it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class MigSlice:
    """One instance: compute slices of seven, and its memory."""

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


def _configuration(number: int, text: str) -> MigConfiguration:
    parts = (tuple(map(int, part.split("/"))) for part in text.split())
    return MigConfiguration(number, tuple(MigSlice(*part) for part in parts))


A100_40GB: tuple[MigConfiguration, ...] = tuple(
    _configuration(number, text)
    for number, text in enumerate(
        (
            "7/40",
            "4/20 3/20",
            "4/20 2/10 1/10",
            "4/20 1/5 1/5 1/5",
            "3/20 3/20",
            "3/20 2/10 1/10",
            "3/20 1/10 1/5 1/5",
            "2/10 2/10 3/20",
            "2/10 1/5 1/5 3/20",
            "1/5 1/5 2/10 3/20",
            "1/5 1/5 1/5 1/5 3/20",
            "2/10 2/10 2/10 1/10",
            "2/10 1/5 1/5 2/10 1/10",
            "1/5 1/5 2/10 2/10 1/10",
            "2/10 1/10 1/5 1/5 1/5 1/5",
            "1/5 1/5 2/10 1/10 1/5 1/5",
            "1/5 1/5 1/10 1/5 2/10 1/5",
            "1/5 1/5 1/10 1/5 1/5 2/10",
            "1/5 1/5 1/5 1/5 1/5 1/5 1/5",
        ),
        start=1,
    )
)
"""The nineteen configurations of an A100-40GB, compute slices / GB."""
