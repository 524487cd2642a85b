"""The factors of all waiting jobs as columns, which look like a mapping of `Factor`.

>>> table = FactorColumns.of({17: Factor(1200, 200, False), 18: Factor(50, 0, True)})
>>> table[17].own, table.shown()[18], table.given()[17], sorted(table.touched())
(1000, 50, 1000, [17, 18])

Ten thousand named tuples take 6 ms to make, columns and a dictionary of rows 1.
"""

from __future__ import annotations

from collections.abc import Iterator, KeysView, Mapping
from functools import cached_property
from typing import NamedTuple

import numpy as np

from dovetail.domain.jobs import Bools, Ints


class Factor(NamedTuple):
    """How a pending job's priority is made up."""

    priority: int
    site: int  # the site factor: ours, or the operator's
    frozen: bool  # set by hand with priority=: no factor moves it
    qos: int = 0  # the part that the job's QOS adds, by PriorityWeightQOS; 0 of a frozen job

    @property
    def own(self) -> int:
        """What Slurm alone would give it."""
        return self.priority if self.frozen else self.priority - self.site


class FactorColumns(Mapping[int, Factor]):
    """By LiveJob.id, each once."""

    def __init__(self, ids: Ints, priority: Ints, site: Ints, frozen: Bools, qos: Ints) -> None:
        self.ids, self.priority, self.site = ids, priority, site
        self.frozen, self.qos = frozen, qos
        self._made: dict[int, Factor] = {}  # several parts of a cycle ask for the same few

    @classmethod
    def of(cls, factors: Mapping[int, Factor]) -> FactorColumns:
        """The same as columns; a table is itself."""
        if isinstance(factors, FactorColumns):
            return factors
        ids = np.fromiter(factors, np.int64, len(factors))
        columns = np.array([*factors.values()], np.int64).reshape(-1, len(Factor._fields)).T
        return cls(ids, columns[0], columns[1], columns[2] != 0, columns[3])

    @cached_property
    def _row(self) -> dict[int, int]:
        return dict(zip(self.ids.tolist(), range(len(self.ids)), strict=True))

    @cached_property
    def own(self) -> Ints:
        """What Slurm alone gives each job."""
        return np.where(self.frozen, self.priority, self.priority - self.site)

    @cached_property
    def _by_id(self) -> tuple[Ints, Ints]:
        """Ids, ascending, and the row of each; as sprio prints them, mostly."""
        if np.all(np.diff(self.ids) > 0):
            return self.ids, np.arange(len(self.ids))
        order = np.argsort(self.ids)
        return self.ids[order], order

    def rows_of(self, jobs: Ints) -> Ints:
        """The row of each job; -1: it has none."""
        ids, rows = self._by_id
        if not len(ids):
            return np.full(len(jobs), -1)
        at = np.minimum(np.searchsorted(ids, jobs), len(ids) - 1)
        return np.where(ids[at] == jobs, rows[at], -1)

    def __getitem__(self, job: int) -> Factor:
        made = self._made.get(job)
        if made is None:
            row = self._row[job]
            columns = self.priority, self.site, self.frozen, self.qos
            made = self._made[job] = Factor._make([column.item(row) for column in columns])
        return made

    def __iter__(self) -> Iterator[int]:
        return iter(self._row)

    def __len__(self) -> int:
        return len(self.ids)

    def __contains__(self, job: object) -> bool:
        return job in self._row

    def keys(self) -> KeysView[int]:
        return self._row.keys()

    def shown(self) -> dict[int, int]:
        """The priority that each job has now."""
        return dict(zip(self._row, self.priority.tolist(), strict=True))

    def given(self) -> dict[int, int]:
        """What Slurm alone gives each job."""
        return dict(zip(self._row, self.own.tolist(), strict=True))

    def touched(self) -> frozenset[int]:
        """Jobs with a site factor or a priority set by hand, whoever did it."""
        return frozenset(self.ids[(self.site != 0) | self.frozen].tolist())
