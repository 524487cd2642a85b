"""Waiting jobs as columns, kept between cycles: a job that is as it was is not read again.

>>> table = WaitingTable()
>>> first, second = (LiveJob(i, str(i), "PENDING", gpus=i, user="ada") for i in (1, 2))
>>> table.of([first, second]).gpus.tolist(), table.of([second]).gpus.tolist()
([1, 2], [2])

Of 26 ms that a window of 10,000 waiting jobs took, 17 went into reading the same jobs again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from operator import itemgetter

import numpy as np

from dovetail.domain.jobs import UNKNOWN, Floats, Ints, Names
from dovetail.live.model.snapshot import LiveJob

SEVERAL = ","
"""Between partitions of a job that names several; their nodes together are one more partition."""

_ID = itemgetter(LiveJob._fields.index("id"))
_FACTS = itemgetter(
    *map(
        LiveJob._fields.index,
        (
            "submit",
            "eligible",
            "gpus",
            "nodes",
            "cpus",
            "memory_gb",
            "gpu_type",
            "partitions",
            "user",
            "qos",
            "account",
        ),
    )
)
"""What a column is made of; the priority, which changes all the time, is not among it."""
Facts = tuple[object, ...]

_SPARE = 1000
"""Rows of jobs that are gone, besides as many as there are jobs, before all are read anew."""


@dataclass(frozen=True, slots=True)
class WaitingColumns:
    """A row for each job; names as codes."""

    submit: Floats
    eligible: Floats
    gpus: Ints
    nodes: Ints
    cpus: Floats
    memory: Floats
    gpu_type: Ints
    partition: Ints
    user: Ints
    qos: Ints
    account: Ints

    def take(self, rows: Ints) -> WaitingColumns:
        return WaitingColumns(*(getattr(self, item.name)[rows] for item in fields(self)))

    def with_more(self, others: WaitingColumns) -> WaitingColumns:
        return WaitingColumns(
            *(
                np.concatenate((getattr(self, item.name), getattr(others, item.name)))
                for item in fields(self)
            )
        )


class Vocabulary:
    """Names as codes, the same from one cycle to the next; no name is UNKNOWN."""

    def __init__(self) -> None:
        self._code: dict[str, int] = {"": UNKNOWN}

    def codes(self, names: Sequence[str]) -> Ints:
        for name in set(names):
            self._code.setdefault(name, len(self._code) - 1)
        return np.fromiter(map(self._code.__getitem__, names), np.int64, len(names))

    def names(self, codes: Ints) -> Names:
        return Names(codes, tuple(name for name in self._code if name))


class WaitingTable:
    """Remembers the jobs of the cycle before, and a row for each."""

    def __init__(self) -> None:
        self.gpu_types, self.partitions = Vocabulary(), Vocabulary()
        self.users, self.qos, self.accounts = Vocabulary(), Vocabulary(), Vocabulary()
        self._jobs: Mapping[int, LiveJob] = {}
        self._row: dict[int, int] = {}
        self._columns = self._read([])

    def of(self, jobs: Sequence[LiveJob]) -> WaitingColumns:
        """The columns of these jobs, in their order."""
        ids = list(map(_ID, jobs))
        before = map(self._jobs.get, ids)
        fresh = [
            job
            for job, known in zip(jobs, before, strict=True)
            if job is not known and not _same(job, known)
        ]
        if len(self._columns.gpus) + len(fresh) > 2 * len(jobs) + _SPARE:
            self._columns, self._row, fresh = self._read([]), {}, list(jobs)
        if fresh:
            first = len(self._columns.gpus)
            self._row.update(zip(map(_ID, fresh), range(first, first + len(fresh)), strict=True))
            self._columns = self._columns.with_more(self._read(fresh))
        self._jobs = dict(zip(ids, jobs, strict=True))
        rows = np.fromiter(map(self._row.__getitem__, ids), np.int64, len(ids))
        return self._columns.take(rows)

    def _read(self, jobs: Sequence[LiveJob]) -> WaitingColumns:
        return WaitingColumns(
            submit=np.array([job.submit for job in jobs], np.float64),
            eligible=np.array([job.eligible for job in jobs], np.float64),
            gpus=np.array([job.gpus for job in jobs], np.int64),
            nodes=np.array([job.nodes for job in jobs], np.int64),
            cpus=np.array([job.cpus for job in jobs], np.float64),
            memory=np.array([job.memory_gb for job in jobs], np.float64),
            gpu_type=self.gpu_types.codes([job.gpu_type for job in jobs]),
            partition=self.partitions.codes([SEVERAL.join(job.partitions) for job in jobs]),
            user=self.users.codes([job.user for job in jobs]),
            qos=self.qos.codes([job.qos for job in jobs]),
            account=self.accounts.codes([job.account for job in jobs]),
        )


def _same(job: LiveJob, known: LiveJob | None) -> bool:
    """Whether nothing has changed that a column is made of."""
    return known is not None and _FACTS(job) == _FACTS(known)
