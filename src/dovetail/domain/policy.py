"""What a policy is: an ordering scores waiting jobs, a placement prefers nodes.

Both are plain data around a small compiled function, so that one object serves simulator,
environment and daemon.

>>> @preferring
... def fullest(p, chunk, free, run, busy, seen):
...     return float(free)
>>> Placement("fullest", fullest, about="the fullest node that fits").prefer(None, 1, 3, 0, 0, None)
3.0
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import Enum
from typing import Any, NamedTuple

import numba
import numpy as np
from numba import types

from dovetail.compiled.functions import LazyFunction
from dovetail.compiled.tables import Row, dtype_of
from dovetail.domain.cluster import Cluster
from dovetail.domain.errors import ConfigError
from dovetail.domain.jobs import Floats, Ints
from dovetail.domain.plan import Plan
from dovetail.domain.problem import Problem


class JobFacts(Row):
    """What a policy may know of a job; there is no true run time here."""

    # first what is looked at most: it stands together in memory
    submit: float  # seconds
    estimate: float  # seconds, at least 1, at speed 1: for the order
    reserve: float  # the same for reservations: how long it is expected to hold its GPUs
    size: float  # GPUs; without any, its CPUs as a share of the cluster's, counted in GPUs
    demand: int  # row of the demands: where it may run
    log_gpus: float  # of the size; natural logarithms, taken once
    log_estimate: float
    spread: float  # how unsure the estimate is: half of the logarithm between its 10th and 90th %
    predicted: float  # seconds, from history alone
    gpus: int  # 0: it asks for CPUs only
    deadline: float  # seconds, NaN: none
    priority: float  # static, higher goes first
    partition_factor: float  # 0 to 1
    qos_factor: float  # 0 to 1
    points: float  # of priority that slurm.conf gives it for good; 0 without one
    account: int  # row of the accounts: whose use counts
    cpus_per_gpu: float  # 0: no demand
    memory_per_gpu: float  # GB, 0: no demand
    skew: float  # logarithm of the prediction's mean / log-mean
    margin: float  # the same of its 80th percentile / log-mean
    exempt: bool  # learned policies leave it alone


class DemandFacts(Row):
    """What a policy may know of the part of the cluster that some jobs may use, now.

    Kept only for orderings that ask for it, and only for demands with waiting jobs.
    """

    total_gpus: float  # at least 1
    total_nodes: float
    free_gpus: float
    idle_nodes: float
    queued_gpus: float  # asked for by all waiting jobs that may use a part of it
    fits: bool  # a job of this demand could start now
    opens: bool  # it would have to begin an idle node, and leave a part of it unused
    ways: float  # kinds of nodes by free GPUs that could host its largest chunk


class AccountFacts(Row):
    """What a policy may know of a user or group."""

    gpus: float  # in use now: the sizes of running jobs
    usage: float  # the same times seconds, decayed
    fair_share: float  # 0 to 1, of this moment


class ClusterFacts(Row):
    """What a policy may know of the cluster at this moment."""

    now: float
    origin: float  # submit time of the first job
    total_gpus: float  # of a cluster without GPUs: its CPUs
    # kept only for orderings that ask for it
    free_gpus: float
    queued_gpus: float
    queued_jobs: float
    fragmentation: float  # 0: free GPUs on idle nodes; towards 1: scattered
    held: float  # seconds for which GPUs in use have been held, their mean
    free_in: float  # seconds until they come free, by estimates, their mean


JOBS = types.Array(numba.from_dtype(dtype_of(JobFacts)), 1, "C")
ACCOUNTS = types.Array(numba.from_dtype(dtype_of(AccountFacts)), 1, "C")
DEMANDS = types.Array(numba.from_dtype(dtype_of(DemandFacts)), 1, "C")
CLUSTER = types.Array(numba.from_dtype(dtype_of(ClusterFacts)), 1, "C")
SCORE = types.void(
    types.float64[::1],  # parameters of the ordering
    JOBS,
    ACCOUNTS,
    DEMANDS,
    CLUSTER,  # one row
    types.int64[::1],  # rows of the jobs to score
    types.float64[::1],  # out: their scores
    types.float64[::1],  # out: below 0, the job may not pass a reserved one; 0 beforehand
    types.float64[::1],  # out: GPUs to be left free when it starts; 0 beforehand
)
PREFER = types.float64(
    types.float64[::1],  # parameters of the placement
    types.int64,  # GPUs of the chunk
    types.int64,  # GPUs free on the node
    types.float64,  # seconds that the job will run, by estimate
    types.float64,  # seconds until the node would be idle without it, by estimate
    types.int64[::1],  # seen[g]: submitted jobs by their largest chunk
)
JobRows = Sequence[JobFacts]
AccountRows = Sequence[AccountFacts]
DemandRows = Sequence[DemandFacts]
ClusterRow = Sequence[ClusterFacts]
Optimiser = Callable[[Problem], Plan]


def scoring(function: Callable[..., None]) -> LazyFunction:
    """A score function; arguments as in SCORE, lower scores go first."""
    return LazyFunction(SCORE, function)


def preferring(function: Callable[..., float]) -> LazyFunction:
    """A node preference; arguments as in PREFER, lower is better."""
    return LazyFunction(PREFER, function)


class Varies(Enum):
    """How the order of waiting jobs can change; the less it can, the less must be scored."""

    NEVER = "never"  # a job keeps the score that it had on arrival
    BETWEEN_ACCOUNTS = "between accounts"  # alike jobs of one account and QOS go as they came
    ALWAYS = "always"


@dataclass(frozen=True, slots=True, eq=False)  # arrays are neither compared nor hashed
class Ordering:
    """Which job goes next; equal is only what is the same object."""

    name: str
    score: LazyFunction  # made by `scoring`
    varies: Varies = Varies.NEVER
    parameters: Mapping[str, float] = field(default_factory=dict)
    half_life: float = 0.0  # seconds; above 0: the simulator keeps fair-share usage
    uses_prediction: bool = False
    uses_state: bool = False  # the simulator keeps DemandFacts and all of ClusterFacts
    weights: Floats = field(default_factory=lambda: np.empty(0))  # of a network; after parameters
    about: str = ""  # one line for lists; empty: the first of the score function's docstring
    at_site: Callable[[Mapping[str, str]], Ordering] | None = None  # by a site's slurm.conf
    beside: Callable[[Mapping[str, str]], Ordering] | None = None  # by what a live Slurm tells

    def under(self, slurm: Mapping[str, str]) -> Ordering:
        """Itself, or what it is where Slurm is configured so."""
        return self.at_site(slurm) if slurm and self.at_site is not None else self

    def beside_slurm(self, slurm: Mapping[str, str]) -> Ordering:
        """Itself, or what it is where a running Slurm of these settings tells jobs' priorities.

        ConfigError where it needs more than such a Slurm tells.
        """
        return self if self.beside is None else self.beside(slurm)

    def numbers(self) -> Floats:
        """What the score function gets: the parameters, then the weights."""
        return np.concatenate(([*self.parameters.values()], self.weights)).astype(np.float64)

    @property
    def description(self) -> str:
        return self.about or _first_line(self.score.__doc__)


TypeCost = Callable[[Cluster, str, str | None], float]
"""What it costs to run jobs of a kind, or of none, on a GPU type of a cluster."""


@dataclass(frozen=True, slots=True, eq=False)
class Placement:
    """On which nodes. Nodes with the lowest preference are taken, ties to the earlier node."""

    name: str
    prefer: LazyFunction  # made by `preferring`
    affinity: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # kind -> GPU types
    type_cost: TypeCost | None = None  # types of lower cost first; instead of `affinity`
    few_switches: bool = False
    uses_time: bool = False  # the preference looks at how long the node stays busy
    weights: Floats = field(default_factory=lambda: np.empty(0))  # its parameters
    optimiser: Optimiser | None = None  # asked where there is a choice; `prefer` where it fails
    assigner: Optimiser | None = None  # asked about jobs of one GPU: what it does not start, waits
    rank: LazyFunction | None = None  # made by `ranking` (domain.node_classes); likewise
    about: str = ""  # one line for lists; empty: the first of the preference's docstring

    @property
    def description(self) -> str:
        return self.about or _first_line(self.prefer.__doc__)


def _first_line(text: str | None) -> str:
    return (text or "").strip().partition("\n")[0]


class Backfill(Enum):
    """What may pass a job that is blocked."""

    NONE = "none"
    EASY = "easy"
    CONSERVATIVE = "conservative"

    @property
    def about(self) -> str:
        return _BACKFILLS[self]


_BACKFILLS = {
    Backfill.NONE: "nothing passes a blocked job that shares its nodes",
    Backfill.EASY: "jobs pass if they do not delay the reservation of the first blocked job",
    Backfill.CONSERVATIVE: "jobs pass if they break no promise; every waiting job has one",
}


@dataclass(frozen=True, slots=True)
class SlurmBackfill:
    """What Slurm's sched/backfill lets pass; names and units as in SchedulerParameters.

    >>> SlurmBackfill(interval=60).value
    'slurm:interval=60'
    >>> SlurmBackfill.parse("bf_interval=60,bf_window=2880") == SlurmBackfill(60, window=2880)
    True
    """

    interval: float = 30.0  # seconds between two cycles
    resolution: float = 60.0  # seconds: planned times are rounded to multiples of it
    window: float = 1440.0  # minutes: what cannot start within them is not planned
    max_job_test: int = 500  # jobs looked at in one cycle
    max_job_user: int = 0  # of these, of one user; 0: any

    def __post_init__(self) -> None:
        for name, most in (("interval", 10_800), ("resolution", 3600), ("window", 43_200)):
            value = getattr(self, name)
            if not 1 <= value <= most:
                raise ConfigError(f"backfill slurm: {name} is {value:g}, expected 1 to {most}")
        for name, least in (("max_job_test", 1), ("max_job_user", 0)):
            value = getattr(self, name)
            if value != int(value) or not least <= value <= 1_000_000:
                raise ConfigError(
                    f"backfill slurm: {name} is {value}, expected a whole number "
                    f"from {least} to 1000000"
                )

    @classmethod
    def parse(cls, text: str) -> SlurmBackfill:
        """From `interval=30,resolution=60`; names may begin with bf_, as in slurm.conf."""
        known = {part.name: part.type for part in fields(cls)}
        chosen: dict[str, Any] = {}
        for part in filter(None, text.split(",")):
            name, _, value = part.partition("=")
            name = name.strip().removeprefix("bf_")
            if name not in known:
                raise ConfigError(
                    f"backfill slurm: no parameter {name!r}; known are {', '.join(known)}"
                )
            try:
                chosen[name] = int(value) if known[name] == "int" else float(value)
            except ValueError:
                raise ConfigError(
                    f"backfill slurm: {part.strip()!r}, expected {name}=NUMBER"
                ) from None
        return cls(**chosen)

    @classmethod
    def of_slurm(cls, parameters: str) -> SlurmBackfill:
        """From a cluster's own SchedulerParameters; other words there are passed over.

        >>> SlurmBackfill.of_slurm("defer,bf_continue,bf_interval=60").value
        'slurm:interval=60'
        """
        known = tuple(f"bf_{part.name}=" for part in fields(cls))
        words = (word.strip().lower() for word in parameters.split(","))
        try:
            return cls.parse(",".join(word for word in words if word.startswith(known)))
        except ConfigError:  # Slurm, too, then takes its defaults
            return cls()

    @property
    def about(self) -> str:
        return "as sched/backfill does: every bf_interval, whole nodes, times rounded"

    @property
    def value(self) -> str:
        """The text that names this way, with what differs from the defaults."""
        plain = SlurmBackfill()
        told = [
            f"{part.name}={getattr(self, part.name):.10g}"  # never with an exponent: ints are read
            for part in fields(self)
            if getattr(self, part.name) != getattr(plain, part.name)
        ]
        return "slurm:" + ",".join(told) if told else "slurm"


BackfillRule = Backfill | SlurmBackfill
"""What may pass a job that is blocked, with its parameters."""


class History(NamedTuple):
    """Run times seen so far, by group; a job belongs to one group per level, finest first."""

    groups: Ints  # [jobs, levels] row of the tables below
    limit: Floats  # [jobs] seconds, NaN: unknown
    recent: Floats  # [groups, ring size] seconds, the latest run times
    total: Ints  # [groups] how many were ever seen


_HISTORY = numba.typeof(
    History(np.zeros((1, 1), np.int64), np.zeros(1), np.zeros((1, 1)), np.zeros(1, np.int64))
)
PREDICT = types.float64(_HISTORY, types.int64)  # history, job -> seconds
OBSERVE = types.void(_HISTORY, types.int64, types.float64)  # history, job, its run time


@dataclass(frozen=True, slots=True)
class OnlinePredictor:
    """Run-time prediction from jobs that have ended; `fresh` gives an empty history."""

    name: str
    predict: LazyFunction  # of signature PREDICT
    observe: LazyFunction  # of signature OBSERVE
    fresh: Callable[[Any], History]  # Jobs -> History
