"""A GPU model: its profiles, what it draws, and the hardware's rules for cutting it.

>>> from dovetail.mig.gpus.table import GPU_MODELS
>>> model = GPU_MODELS["a100-40"]
>>> [(part.profile, part.start) for part in model.place(["3g.20gb", "4g.20gb"])]
[('4g.20gb', 0), ('3g.20gb', 4)]
>>> model.configuration(4).counts
{'4g.20gb': 1, '1g.5gb': 3}

An instance takes a run of memory slices that begins at one of its profile's starts, and as many
compute slices as its name says.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from dovetail.domain.errors import ClusterError, ConfigError, MigRuleError
from dovetail.mig.gpus.profiles import (
    InstancePlacement,
    MigConfiguration,
    MigProfile,
    MigRule,
    MigSlice,
)


@dataclass(frozen=True)
class GpuModel:
    """Profiles go from the smallest to the largest, which is the whole GPU."""

    name: str
    compute_slices: int
    memory_slices: int
    profiles: tuple[MigProfile, ...]
    watts: tuple[float, ...]  # with 0, 1, ... compute slices busy
    configurations: tuple[MigConfiguration, ...] = ()  # numbered ways to cut it, from 1
    speed: float = 1.0  # of a slice, against one of the same size of the A100

    def __post_init__(self) -> None:
        if len(self.watts) != self.compute_slices + 1:
            raise ClusterError(
                f"GPU model {self.name}: {len(self.watts)} power values, expected "
                f"{self.compute_slices + 1}: with 0 to {self.compute_slices} slices busy"
            )
        if not self.speed > 0:
            raise ClusterError(f"GPU model {self.name}: speed is {self.speed}, expected above 0")

    def __hash__(self) -> int:
        # That of all fields took 100 µs, and every look at a table of models asks for it.
        return hash(self.name)

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

    def layout(self, number: int) -> tuple[tuple[MigProfile, int], ...]:
        """The instances of a configuration, each with the memory slices below it."""
        found, offset = [], 0
        for part in self.configuration(number).slices:
            profile = self.profile(part.profile)
            found.append((profile, offset))
            offset += profile.memory_slices
        return tuple(found)

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
