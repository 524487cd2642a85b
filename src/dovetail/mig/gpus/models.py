"""GPU models that can be cut into instances, and the hardware's rules for cutting them.

>>> model = MODELS["a100-40"]
>>> [(part.profile, part.start) for part in model.place(["3g.20gb", "4g.20gb"])]
[('4g.20gb', 0), ('3g.20gb', 4)]
>>> model.configuration(4).counts
{'4g.20gb': 1, '1g.5gb': 3}

An instance takes a run of memory slices that begins at one of its profile's starts, and as many
compute slices as its name says. The profiles, sizes and starts are those of NVIDIA's MIG user
guide and of `nvidia-smi mig -lgipp`; profiles with media engines (`+me`) take the same room as
those without and are left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

from dovetail.domain.errors import ConfigError, MigRuleError
from dovetail.domain.registry import Registry
from dovetail.mig.gpus.slices import A100_40GB, MigConfiguration, MigSlice


class MigRule(StrEnum):
    """What a cut can break."""

    UNKNOWN_PROFILE = "unknown profile"
    TOO_MANY = "too many of a profile"
    COMPUTE = "compute slices exceeded"
    MEMORY = "memory slices exceeded"
    START = "illegal start"
    OVERLAP = "overlap"
    ARRANGEMENT = "no legal arrangement"


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


@dataclass(frozen=True)
class MigModel:
    """A GPU model: its slices, its profiles from the smallest, and numbered ways to cut it."""

    name: str
    compute_slices: int
    memory_slices: int
    profiles: tuple[MigProfile, ...]
    configurations: tuple[MigConfiguration, ...] = ()

    @cached_property
    def _by_name(self) -> dict[str, MigProfile]:
        return {profile.name: profile for profile in self.profiles}

    def profile(self, name: str) -> MigProfile:
        if name not in self._by_name:
            known = ", ".join(self._by_name)
            raise MigRuleError(
                MigRule.UNKNOWN_PROFILE, f"{self.name} has no profile {name!r}; it has {known}"
            )
        return self._by_name[name]

    def configuration(self, number: int) -> MigConfiguration:
        if not 1 <= number <= len(self.configurations):
            raise ConfigError(
                f"{self.name} has no configuration {number}; it has 1 to {len(self.configurations)}"
            )
        return self.configurations[number - 1]

    def check(self, layout: Sequence[InstancePlacement]) -> None:
        """Raise MigRuleError with the rule that these placed instances break, if any."""
        self._check_amounts([part.profile for part in layout])
        taken: dict[int, InstancePlacement] = {}
        for part in layout:
            profile = self.profile(part.profile)
            if part.start not in profile.starts:
                raise MigRuleError(
                    MigRule.START,
                    f"{self.name}: {part.profile} cannot begin at memory slice {part.start}; "
                    f"it can at {', '.join(map(str, profile.starts))}",
                )
            for slot in profile.room(part.start):
                if slot in taken:
                    other = taken[slot]
                    raise MigRuleError(
                        MigRule.OVERLAP,
                        f"{self.name}: {part.profile} at {part.start} and {other.profile} at "
                        f"{other.start} both take memory slice {slot}",
                    )
                taken[slot] = part

    def place(self, names: Iterable[str]) -> tuple[InstancePlacement, ...]:
        """A legal place for each of these instances, by start; MigRuleError if there is none."""
        wanted = list(names)
        self._check_amounts(wanted)
        parts = sorted((self.profile(name) for name in wanted), key=lambda p: -p.memory_slices)
        for layout in self._arrangements(parts, frozenset()):
            return tuple(sorted(layout, key=lambda part: part.start))
        raise MigRuleError(
            MigRule.ARRANGEMENT, f"{self.name}: {' + '.join(wanted)} fit in no arrangement"
        )

    def maximal_layouts(self) -> list[tuple[InstancePlacement, ...]]:
        """Every legal layout that no further instance fits into, larger instances first."""
        return [layout for layout in self._fill(0) if not self._has_room(layout)]

    def _check_amounts(self, names: Sequence[str]) -> None:
        parts = [self.profile(name) for name in names]
        for name, count in Counter(names).items():
            most = len(self.profile(name).starts)
            if count > most:
                raise MigRuleError(
                    MigRule.TOO_MANY, f"{self.name}: {count} × {name}, at most {most} fit"
                )
        for rule, kind, used, there in (
            (MigRule.COMPUTE, "compute", sum(p.compute for p in parts), self.compute_slices),
            (MigRule.MEMORY, "memory", sum(p.memory_slices for p in parts), self.memory_slices),
        ):
            if used > there:
                text = " + ".join(names)
                raise MigRuleError(
                    rule, f"{self.name}: {text} take {used} of {there} {kind} slices"
                )

    def _arrangements(
        self, parts: Sequence[MigProfile], taken: frozenset[int]
    ) -> Iterator[tuple[InstancePlacement, ...]]:
        if not parts:
            yield ()
            return
        first, *rest = parts
        for start in first.starts:
            room = frozenset(first.room(start))
            if not room & taken:
                for others in self._arrangements(rest, taken | room):
                    yield (InstancePlacement(first.name, start), *others)

    def _fill(self, slot: int, compute: int = 0) -> Iterator[tuple[InstancePlacement, ...]]:
        """Every legal layout of the memory slices from `slot` on."""
        if slot >= self.memory_slices:
            yield ()
            return
        for profile in reversed(self.profiles):
            if slot in profile.starts and compute + profile.compute <= self.compute_slices:
                placed = InstancePlacement(profile.name, slot)
                for rest in self._fill(slot + profile.memory_slices, compute + profile.compute):
                    yield (placed, *rest)
        yield from self._fill(slot + 1, compute)

    def _has_room(self, layout: Sequence[InstancePlacement]) -> bool:
        taken = {s for part in layout for s in self.profile(part.profile).room(part.start)}
        compute = sum(self.profile(part.profile).compute for part in layout)
        return any(
            compute + profile.compute <= self.compute_slices
            and not taken.intersection(profile.room(start))
            for profile in self.profiles
            for start in profile.starts
        )


_SEVEN = (  # compute slices, memory slices, starts: alike on every model with seven
    (1, 1, (0, 1, 2, 3, 4, 5, 6)),
    (1, 2, (0, 2, 4, 6)),
    (2, 2, (0, 2, 4)),
    (3, 4, (0, 4)),
    (4, 4, (0,)),
    (7, 8, (0,)),
)
_FOUR = ((1, 1, (0, 1, 2, 3)), (2, 2, (0, 2)), (4, 4, (0,)))

_Shape = tuple[tuple[int, int, tuple[int, ...]], ...]


def _profiles(shape: _Shape, memory_gb: Sequence[int]) -> tuple[MigProfile, ...]:
    return tuple(
        MigProfile(MigSlice(compute, gb), slots, starts)
        for (compute, slots, starts), gb in zip(shape, memory_gb, strict=True)
    )


def _of_seven(name: str, *memory_gb: int) -> MigModel:
    """A model with seven compute slices: number n means the same cut on each of them.

    The numbers 1 to 19 are those of the MIG scheduling literature. How they relate to the rules
    (each claim is a test):
    - Without the 1g of two memory slices, which came later, the rules give exactly 19 maximal
      layouts: six ways to fill the first four memory slices times three for the others, and 7g.
    - The published list is these, with two exceptions. Its number 18 (1 1 1 1 1 2) would have a 2g
      begin at slice 5, which the hardware does not allow; 2 2 1 1 1 is missing instead. And it
      turns one 1g into a 1g of double memory wherever the eighth memory slice would stay unused,
      but for numbers 4 and 19: no rule yields that choice, so the list is kept as it is.
    - As ordered lists 7, 15, 16, 17 and 18 are no layouts, then; as sets of instances all 19
      are legal and maximal, and a driver is asked for sets.
    - Without order they are 14 sets, not the 12 that are sometimes counted. Twelve remain of the
      rules' own layouts if one asks that a cut use up the compute or the memory slices: that
      drops 3 2 1 and 3 1 1 1.
    - With the double-memory 1g the rules allow 78 maximal layouts.
    """
    profiles = _profiles(_SEVEN, memory_gb)
    by_size = {(p.compute, p.memory_slices): p.slice for p in profiles}
    configurations = tuple(
        MigConfiguration(
            known.number, tuple(by_size[s.compute, s.memory_gb // 5] for s in known.slices)
        )
        for known in A100_40GB
    )
    return MigModel(name, 7, 8, profiles, configurations)


def _of_four(name: str, *memory_gb: int) -> MigModel:
    """A model with four compute slices; its configurations are all maximal layouts."""
    bare = MigModel(name, 4, 4, _profiles(_FOUR, memory_gb))
    configurations = tuple(
        MigConfiguration(number, tuple(bare.profile(part.profile).slice for part in layout))
        for number, layout in enumerate(bare.maximal_layouts(), start=1)
    )
    return MigModel(name, 4, 4, bare.profiles, configurations)


MODELS: Registry[MigModel] = Registry(
    "MIG model",
    {
        model.name: model
        for model in (
            _of_seven("a100-40", 5, 10, 10, 20, 20, 40),
            _of_seven("a100-80", 10, 20, 20, 40, 40, 80),
            _of_seven("h100-80", 10, 20, 20, 40, 40, 80),
            _of_seven("h100-94", 12, 24, 24, 47, 47, 94),
            _of_seven("h100-96", 12, 24, 24, 48, 48, 96),
            _of_seven("h200-141", 18, 35, 35, 71, 71, 141),
            _of_four("a30-24", 6, 12, 24),
        )
    },
)
"""Every model that can be planned for; profiles of each from the smallest to the largest."""
