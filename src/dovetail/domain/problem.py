"""What the optimiser is asked: the nodes now, what will be released, and the first jobs in line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import ceil
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dovetail.domain.distinct import distinct_rows
from dovetail.domain.errors import ConfigError
from dovetail.domain.jobs import Floats, Ints

ANY_KIND = (1 << 63) - 1
"""Every kind of node."""

LOOK_AHEAD = (0.1, 0.25, 0.5)
"""Quantiles of the estimated releases that end a slot: near ones, as estimates age badly."""


class ChunkDemand(NamedTuple):
    """What a job takes of one node; CPUs in thousandths, memory in MB."""

    gpus: int
    cpus: int = 0
    memory: int = 0


NO_CHUNK = ChunkDemand(0)


@dataclass(frozen=True, slots=True)
class JobShape:
    """One way to run a job: `many` large chunks and `few` small ones, each on a node of its own."""

    many: int
    large: ChunkDemand
    few: int = 0
    small: ChunkDemand = NO_CHUNK
    kinds: int = ANY_KIND
    speed: float = 1.0

    @property
    def nodes(self) -> int:
        return self.many + self.few

    @property
    def gpus(self) -> int:
        return self.many * self.large.gpus + self.few * self.small.gpus


@dataclass(frozen=True, slots=True)
class JobAsk:
    """A waiting job: the shapes it may take, how long it is believed to run, what it is worth."""

    shapes: tuple[JobShape, ...]
    estimate: float
    weight: int
    due: bool = False  # the order has decided: it starts now if it can, whatever that costs others
    waited: float = 0.0  # seconds
    priority: float = 0.0

    def __post_init__(self) -> None:
        if not self.shapes:
            raise ConfigError("a job without shapes can never start: leave it out of the problem")
        for shape in self.shapes:
            if shape.many < 1 or shape.large.gpus < 1 or (shape.few and shape.small.gpus < 1):
                raise ConfigError(f"{shape}: a shape needs a large chunk, and GPUs in each chunk")
            if shape.gpus != self.gpus:
                raise ConfigError(f"shapes of one job ask {self.gpus} and {shape.gpus} GPUs")
        if self.weight < 1 or not self.estimate > 0:
            raise ConfigError(f"weight {self.weight}, estimate {self.estimate}: both must be > 0")

    @property
    def gpus(self) -> int:
        return self.shapes[0].gpus


@dataclass(frozen=True, slots=True)
class Releases:
    """Running chunks: when each is believed to end, and what its node then gets back."""

    end: Floats  # [chunks]
    node: Ints  # [chunks]
    amount: Ints  # [chunks, 3] GPUs, milli-CPUs, MB

    @classmethod
    def none(cls) -> Releases:
        return cls(np.zeros(0), np.zeros(0, np.int64), np.zeros((0, 3), np.int64))


@dataclass(frozen=True)
class NodeState:
    """The nodes, in their fixed order."""

    free: Ints  # [nodes, 3] GPUs, milli-CPUs, MB free now
    kind: Ints  # [nodes] bit number in the masks of shapes; stands for GPU type and partitions
    switch: Ints  # [nodes] numbered from 0
    releases: Releases = field(default_factory=Releases.none)

    def __post_init__(self) -> None:
        nodes, known = len(self.free), self.releases.node
        if self.free.shape != (nodes, 3) or len(self.kind) != nodes or len(self.switch) != nodes:
            raise ConfigError("free is [nodes, 3]; kind and switch have one entry per node")
        if nodes and (self.free.min() < 0 or self.kind.min() < 0 or self.kind.max() > 62):
            raise ConfigError("free amounts are 0 or more, kinds 0 to 62")
        if nodes and not 0 <= self.switch.min() <= self.switch.max() < nodes:
            raise ConfigError(f"switches are numbered from 0, with less than {nodes} of them")
        if len(known) and (known.min() < 0 or known.max() >= nodes):
            raise ConfigError(f"a release names a node outside 0..{nodes - 1}")

    def __len__(self) -> int:
        return len(self.free)


@dataclass(frozen=True)
class Problem:
    """Which of these jobs start now, and where? Jobs stand in order of priority."""

    nodes: NodeState
    jobs: tuple[JobAsk, ...]
    now: float = 0.0

    @cached_property
    def slots(self) -> Floats:
        """Times at which a job may start: now, then estimated releases (at most three)."""
        ends = self.nodes.releases.end
        later = np.sort(ends[ends > self.now])
        picked = {
            float(later[ceil(share * (len(later) - 1))]) for share in LOOK_AHEAD if later.size
        }
        return np.array([self.now, *sorted(picked)])


def kinds_by(*columns: NDArray[np.int64]) -> Ints:
    """Kind codes for nodes told by columns (GPU type, GPUs, partition mask, ...)."""
    _, codes = distinct_rows(np.column_stack(columns))
    return codes


def kind_mask(kinds: Ints, allowed: Sequence[bool] | NDArray[np.bool_]) -> int:
    """The mask of the kinds that have an allowed node."""
    return sum(1 << int(kind) for kind in np.unique(kinds[np.asarray(allowed, np.bool_)]))


def weights_by_rank(jobs: int) -> list[int]:
    """Weights for jobs in order of priority: 100, 95, 90, ... (5 % less each), at least 40.

    The floor keeps the promise of `objective`: a job is never held back to keep nodes tidy.
    """
    return [max(40, round(100 * 0.95**rank)) for rank in range(jobs)]
