"""The jobs of a trace as a struct of arrays: one column per fact, one row per job."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dovetail.compiled.arrays import Bools as Bools
from dovetail.compiled.arrays import Floats as Floats
from dovetail.compiled.arrays import Ints as Ints
from dovetail.domain.errors import TraceError

UNKNOWN = -1
"""The code of a name that a trace does not give (no user, no partition, ...)."""

TEN_YEARS = 10 * 365.25 * 86_400.0
"""Longer run times and limits than this are broken records, not jobs."""


@dataclass(frozen=True, slots=True)
class Names:
    """A column of repeated names: codes per job, and the name behind each code."""

    codes: Ints
    values: tuple[str, ...]

    @classmethod
    def of(cls, column: Sequence[str | None]) -> Names:
        """Codes in order of first appearance; None becomes UNKNOWN."""
        values = tuple(name for name in dict.fromkeys(column) if name is not None)
        number: dict[str | None, int] = {name: code for code, name in enumerate(values)}
        number[None] = UNKNOWN
        # `map` over a bound method: a third of the time of a generator expression.
        codes = np.fromiter(map(number.__getitem__, column), np.int64, len(column))
        return cls(codes, values)

    @classmethod
    def none(cls, count: int) -> Names:
        """One number for all rows: a million jobs have a dozen columns that say nothing."""
        return cls(np.broadcast_to(np.int64(UNKNOWN), count), ())

    def __getitem__(self, rows: Any) -> Names:
        return Names(self.codes[rows], self.values)

    def name(self, code: int) -> str | None:
        return None if code < 0 else self.values[code]

    def names(self) -> list[str | None]:
        """The names written out, None where unknown."""
        return [self.name(code) for code in self.codes.tolist()]


@dataclass(frozen=True, slots=True)
class Jobs:
    """All facts about n jobs, in order of submission; every column has n rows.

    `run` is the true run time at speed 1. It is for the simulator and for training only:
    what a policy sees of a job's length is an estimate (see `snapshot`).
    """

    ids: NDArray[Any]  # variable-length strings, unique
    submit: Floats  # seconds, ascending: when it could first run, dependencies met as recorded
    run: Floats  # seconds, >= 0
    gpus: Ints  # of the whole job; 0: it asks for CPUs only
    limit: Floats  # seconds the user asked for; NaN: unknown
    nodes: Ints  # nodes the job must be split over evenly; 0: as few as possible
    cpus: Floats  # of the whole job; 0: no demand
    memory: Floats  # GB of the whole job; 0: no demand
    gpu_type: Names  # "v100" or "v100|p100" (any of these); UNKNOWN: any type
    partition: Names  # "short" or "short,long" (any of these); UNKNOWN: none
    user: Names
    qos: Names
    kind: Names  # "worker", "inference", ...: for affinity and prediction
    mig: Names  # "1g.5gb": a slice per GPU asked for; UNKNOWN: whole GPUs
    priority: Floats  # the site's own static priority, higher goes first
    deadline: Floats  # seconds, absolute; NaN: none
    exempt: Bools  # SLA-bound: learned policies leave these jobs alone
    recorded_start: Floats  # when the real cluster started it; NaN: unknown
    name: Names  # the job's name, or its executable
    account: Names  # who pays: Slurm's account, SWF's group
    work_dir: Names  # where it was submitted
    submit_line: Names  # with what command
    array: Names  # id of the array that it is a task of; UNKNOWN: of none
    restarts: Ints  # how often it had been requeued when it was submitted like this
    exclusive: Bools  # takes whole nodes, whatever it asks for
    constraint: Names  # features that its nodes must have: "gold&ib"; UNKNOWN: any
    dependency: Names  # what it waits for before it may run: "afterok:17"; UNKNOWN: nothing
    earliest: Floats  # seconds: no sooner may it run, whatever it waits for; NaN: `submit`
    throttle: Ints  # tasks of its array that may run at once; 0: all
    licenses: Names  # that it holds while it runs: "matlab:2,ansys"; UNKNOWN: none
    nodelist: Names  # nodes that it asks for by name: "gpu[1-2],big1"; UNKNOWN: any
    exclude: Names  # nodes that it never runs on, in the same words; UNKNOWN: none
    reservation: Names  # it asks for, and runs only on its nodes while it lasts; UNKNOWN: none

    def __post_init__(self) -> None:
        count = len(self.ids)
        for item in fields(self):
            column = getattr(self, item.name)
            rows = len(column.codes) if isinstance(column, Names) else len(column)
            if rows != count:
                raise TraceError(f"column {item.name} has {rows} rows, expected {count}")

    def __len__(self) -> int:
        return len(self.ids)

    def take(self, rows: slice | Ints | Bools) -> Self:
        """These rows of every column, in the order given."""
        return replace(self, **{f.name: getattr(self, f.name)[rows] for f in fields(self)})


@dataclass(slots=True)
class JobColumns:
    """What an importer or a test has at hand; `build()` fills in the rest.

    >>> len(JobColumns(submit=[0, 5], run=[60, 60], gpus=[1, 8]).build())
    2
    """

    submit: ArrayLike
    run: ArrayLike
    gpus: ArrayLike
    ids: Sequence[str] | None = None
    limit: ArrayLike | None = None
    nodes: ArrayLike | None = None
    cpus: ArrayLike | None = None
    memory: ArrayLike | None = None
    gpu_type: Sequence[str | None] | Names | None = None
    partition: Sequence[str | None] | Names | None = None
    user: Sequence[str | None] | Names | None = None
    qos: Sequence[str | None] | Names | None = None
    kind: Sequence[str | None] | Names | None = None
    mig: Sequence[str | None] | Names | None = None
    priority: ArrayLike | None = None
    deadline: ArrayLike | None = None
    exempt: ArrayLike | None = None
    recorded_start: ArrayLike | None = None
    name: Sequence[str | None] | Names | None = None
    account: Sequence[str | None] | Names | None = None
    work_dir: Sequence[str | None] | Names | None = None
    submit_line: Sequence[str | None] | Names | None = None
    array: Sequence[str | None] | Names | None = None
    restarts: ArrayLike | None = None
    exclusive: ArrayLike | None = None
    constraint: Sequence[str | None] | Names | None = None
    dependency: Sequence[str | None] | Names | None = None
    earliest: ArrayLike | None = None
    throttle: ArrayLike | None = None
    licenses: Sequence[str | None] | Names | None = None
    nodelist: Sequence[str | None] | Names | None = None
    exclude: Sequence[str | None] | Names | None = None
    reservation: Sequence[str | None] | Names | None = None
    _count: int = field(init=False, default=0)

    def build(self) -> Jobs:
        """Columns of the right types, defaults where nothing is known; checks nothing else."""
        submit = np.asarray(self.submit, np.float64)
        self._count = len(submit)
        ids = self.ids if self.ids is not None else [str(i) for i in range(self._count)]
        return Jobs(
            ids=np.asarray(ids, np.dtypes.StringDType()),
            submit=submit,
            run=np.asarray(self.run, np.float64),
            gpus=np.asarray(self.gpus, np.int64),
            limit=self._floats(self.limit, np.nan),
            nodes=self._counts(self.nodes),
            cpus=self._floats(self.cpus, 0.0),
            memory=self._floats(self.memory, 0.0),
            gpu_type=self._names(self.gpu_type),
            partition=self._names(self.partition),
            user=self._names(self.user),
            qos=self._names(self.qos),
            kind=self._names(self.kind),
            mig=self._names(self.mig),
            priority=self._floats(self.priority, 0.0),
            deadline=self._floats(self.deadline, np.nan),
            exempt=self._flags(self.exempt),
            recorded_start=self._floats(self.recorded_start, np.nan),
            name=self._names(self.name),
            account=self._names(self.account),
            work_dir=self._names(self.work_dir),
            submit_line=self._names(self.submit_line),
            array=self._names(self.array),
            restarts=self._counts(self.restarts),
            exclusive=self._flags(self.exclusive),
            constraint=self._names(self.constraint),
            dependency=self._names(self.dependency),
            earliest=self._floats(self.earliest, np.nan),
            throttle=self._counts(self.throttle),
            licenses=self._names(self.licenses),
            nodelist=self._names(self.nodelist),
            exclude=self._names(self.exclude),
            reservation=self._names(self.reservation),
        )

    def _flags(self, given: ArrayLike | None) -> Bools:
        return np.zeros(self._count, np.bool_) if given is None else np.asarray(given, np.bool_)

    def _counts(self, given: ArrayLike | None) -> Ints:
        return np.asarray(0 if given is None else given, np.int64) * np.ones(self._count, np.int64)

    def _floats(self, given: ArrayLike | None, default: float) -> Floats:
        if given is None:
            return np.full(self._count, default)
        return np.asarray(given, np.float64)

    def _names(self, given: Sequence[str | None] | Names | None) -> Names:
        if given is None:
            return Names.none(self._count)
        return given if isinstance(given, Names) else Names.of(given)
