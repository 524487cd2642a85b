"""What a placement on slices is: it ranks the free slices for the next job, the lowest goes.

placer = PLACERS["eft"]
schedule = simulate_mig(day, cluster, placer)
refusing = Placer("never", rank)        # a first key of inf: rather wait than take this slice
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol

import numba
import numpy as np
from numba import types
from numpy.typing import NDArray

from dovetail.compiled.functions import LazyFunction
from dovetail.compiled.tables import Row, dtype_of
from dovetail.domain.jobs import Floats, Ints

KEYS = 4
"""Numbers that a slice is ranked by: the first counts most, the lowest wins."""


class SliceFacts(Row):
    """A free slice that the next job fits, as a policy sees it."""

    slot: int  # row of the slice
    gpu: int
    size: int  # compute slices
    slices: int  # compute slices of the whole GPU
    duration: float  # seconds that the job would run there, by estimate
    lateness: float  # seconds that it would end after its deadline by it; below 0: before
    energy: float  # joules more by it, if nothing else were placed on that GPU meanwhile
    packed: float  # share of the GPU's compute slices that are busy
    mean_size: float  # compute slices per instance of the GPU
    chance: float  # uniform in [0, 1)


class MomentFacts(Row):
    """The next job and the cluster, as a policy sees them."""

    now: float  # seconds
    left: float  # seconds to the job's deadline; below 0: it has passed
    shortest: float  # seconds that it runs on the largest slice of any type
    category: int  # 1: gains much from large slices … 4: nothing
    queued: int  # waiting jobs, this one included
    overdue: int  # of these, jobs whose deadline has passed
    free: int  # slices that could be taken now
    slots: int  # slices in all
    busy: int  # compute slices
    compute: int  # compute slices in all
    likely: float  # by what history multiplies the estimates of the job's run times
    spread: float  # deviation of the logarithm of its run time around that; 0: it is sure
    # of each size, the busy slice that will be free first, of those that the job fits
    soon1: float  # seconds until it is free, by estimate; inf: there is none
    soon2: float
    soon3: float
    soon4: float
    soon7: float
    then1: float  # seconds that the job would run there
    then2: float
    then3: float
    then4: float
    then7: float
    rest1: float  # seconds until one is free, as history and the time it has run suggest
    rest2: float
    rest3: float
    rest4: float
    rest7: float


SLICES = types.Array(numba.from_dtype(dtype_of(SliceFacts)), 1, "C")
MOMENT = types.Array(numba.from_dtype(dtype_of(MomentFacts)), 1, "C")
RANK = types.void(
    types.float64[::1],  # parameters of the placer
    MOMENT,  # one row
    SLICES,  # one row per free slice that fits, in order of slots
    types.float64[:, ::1],  # out: [slices, KEYS], zeros beforehand
)
SliceRows = Sequence[SliceFacts]
MomentRow = Sequence[MomentFacts]
Keys = NDArray[np.float64]


def ranking(function: Callable[..., None]) -> LazyFunction:
    """A rank function; arguments as in RANK."""
    return LazyFunction(RANK, function)


@dataclass(frozen=True, slots=True)
class Placer:
    """On which free slice the next job goes; ties go to the earlier slot.

    One that declines every slice waits for the next event; with `passes` it is asked about the
    job with the next deadline instead, so many times.
    """

    name: str
    rank: LazyFunction  # made by `ranking`
    parameters: Mapping[str, float] = field(default_factory=dict)
    weights: Floats = field(default_factory=lambda: np.empty(0))  # of a network; after parameters
    passes: int = 0  # jobs that it may pass over between two events, by declining every slice

    def numbers(self) -> Floats:
        """What the rank function gets: the parameters, then the weights."""
        return np.concatenate(([*self.parameters.values()], self.weights)).astype(np.float64)


class Preemption(Enum):
    """What may happen to a running job when one with an earlier deadline finds no free slice."""

    NEVER = "never"
    LATEST_DEADLINE = "latest deadline"  # the one due last goes back and keeps what it has done


class Busy(Enum):
    """What happens to a GPU that is to be cut otherwise while a job stands in the way."""

    SKIP = "skip"  # nothing: it may be asked again later
    DRAIN = "drain"  # takes no more jobs until it can


@dataclass(frozen=True, slots=True)
class ClusterView:
    """What a repartitioner may know: GPUs and waiting jobs. Arrays are copies."""

    now: float
    way: Ints  # [GPUs] how it is cut: an index of its type's `ways`
    busy: Ints  # [GPUs] compute slices
    waiting: Ints  # rows of the waiting jobs, earliest deadline first
    deadline: Floats  # [waiting] seconds; inf: none
    times: Floats  # [waiting, COLUMNS] seconds on a slice of that many compute slices, by estimate


class Repartitioner(Protocol):
    """How each GPU should be cut; asked after every `every` arrivals and completions."""

    @property
    def name(self) -> str: ...

    @property
    def every(self) -> int: ...

    def wanted(self, view: ClusterView) -> Ints:
        """[GPUs] an index of the type's `ways`; the present one or -1: leave it."""
