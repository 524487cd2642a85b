"""Tables of jobs that wait for others before they may run: dependencies and throttled arrays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from dovetail.compiled.tables import new_table
from dovetail.domain.jobs import Bools, Ints, Jobs
from dovetail.simulator.build import Tables
from dovetail.simulator.kernel import eligibility_rows as rows
from dovetail.simulator.kernel.eligibility_rows import ENDED, STARTED
from dovetail.simulator.kernel.parts import DEPENDENCIES
from dovetail.slurm.dependencies import END, SAME_TASK, START, Dependency, dependency_of


class Wait(NamedTuple):
    """One job waits for another: to start or to end, and so many seconds longer."""

    before: int
    after: int
    moment: int
    delay: float


def add_dependencies(tables: Tables, jobs: Jobs, carried: int = 0) -> None:
    """Give a simulation what its jobs wait for; a trace without such jobs does not pay for it.

    `carried` jobs of a window came before it: they are eligible.
    """
    links, missing, any_one = _links(jobs, carried)
    tasks, bounds = _throttled(jobs, missing, carried)
    if not links and not tasks:
        return
    links.sort()
    table = new_table(rows.EligibilityRow, len(jobs))
    before = np.array([link.before for link in links], np.int64)
    table["link_first"] = np.searchsorted(before, np.arange(len(jobs)), "left")
    table["link_last"] = np.searchsorted(before, np.arange(len(jobs)), "right")
    table["missing"], table["held"] = missing, missing > 0
    table["earliest"] = np.where(np.isnan(jobs.earliest), jobs.submit, jobs.earliest)
    table["any"], table["array"] = any_one, -1
    tables.eligibility = table
    tables.dependency_links = new_table(rows.DependencyLink, len(links))
    for at, link in enumerate(links):
        tables.dependency_links[at] = (link.after, link.moment, link.delay)
    tables.array_tasks = new_table(rows.ArrayTask, len(tasks))
    tables.array_tasks["job"][: len(tasks)] = tasks
    tables.arrays = new_table(rows.ArrayRow, len(bounds))
    for number, (first, following, last) in enumerate(bounds):
        tables.arrays[number] = (following, last)
        table["array"][tasks[first:last]] = number
    for name in ("eligibility", "dependency_links", "array_tasks", "arrays"):
        tables.world[name] = getattr(tables, name).ctypes.data
    tables.world["linked"] = True
    tables.use(DEPENDENCIES)
    held = np.append(table["held"], [False])
    tables.world["submitted"] = int(np.argmin(held))


def _links(jobs: Jobs, carried: int) -> tuple[list[Wait], Ints, Bools]:
    """Who waits for whom, how many of these have to come to pass for each job, and of whom one."""
    links: list[Wait] = []
    missing, any_one = np.zeros(len(jobs), np.int64), np.zeros(len(jobs), np.bool_)
    named = np.flatnonzero(jobs.dependency.codes >= 0)
    if len(named) == 0:
        return links, missing, any_one
    found = {code: dependency_of(text) for code, text in enumerate(jobs.dependency.values)}
    ids = jobs.ids.tolist()
    row_of = {name: row for row, name in enumerate(ids)}
    tasks = _tasks(jobs)
    singles = _Singletons(jobs)
    for row in range(int(named[0]), len(jobs)):
        code = int(jobs.dependency.codes[row])
        asked = found[code] if code >= 0 else Dependency()
        own = set(_named(asked, row, ids[row], row_of, tasks))
        if asked.singleton:
            own |= {Wait(before, row, ENDED, 0.0) for before in singles.earlier(row)}
        singles.add(row, asked.singleton)
        if own and row >= carried:
            missing[row], any_one[row] = 1 if asked.any else len(own), asked.any
            links += own
    return links, missing, any_one


def _named(
    asked: Dependency,
    row: int,
    own: str,
    row_of: dict[str, int],
    tasks: dict[str, list[int]],
) -> Iterator[Wait]:
    """A name is a job's, or an array's with all its tasks; who is not in the trace is no matter."""
    for term in asked.terms:
        moment = {START: STARTED, END: ENDED, SAME_TASK: ENDED}[term.event]
        for name in term.jobs:
            if term.event == SAME_TASK:
                name = f"{name}_{own.rpartition('_')[2]}"
            rows_named = [row_of[name]] if name in row_of else tasks.get(name, [])
            for before in rows_named:
                if before != row:
                    yield Wait(before, row, moment, term.seconds)


def _tasks(jobs: Jobs) -> dict[str, list[int]]:
    """The tasks of each array, in order."""
    found: dict[str, list[int]] = {}
    for row in np.flatnonzero(jobs.array.codes >= 0).tolist():
        found.setdefault(jobs.array.values[jobs.array.codes[row]], []).append(row)
    return found


class _Singletons:
    """Jobs of the same user and name, as far as a singleton need wait for them.

    Those before an earlier singleton have ended when that one has.
    """

    def __init__(self, jobs: Jobs) -> None:
        self._owner, self._name = jobs.user.codes.tolist(), jobs.name.codes.tolist()
        self._since: dict[tuple[int, int], list[int]] = {}
        for row in range(int(np.argmax(jobs.dependency.codes >= 0))):
            self.add(row, False)

    def earlier(self, row: int) -> list[int]:
        return self._since.get((self._owner[row], self._name[row]), [])

    def add(self, row: int, singleton: bool) -> None:
        key = (self._owner[row], self._name[row])
        if singleton:
            self._since[key] = []
        self._since.setdefault(key, []).append(row)


def _throttled(
    jobs: Jobs, missing: Ints, carried: int
) -> tuple[list[int], list[tuple[int, int, int]]]:
    """Tasks of throttled arrays, one array after the other: first, next to be let in, last.

    Every task beyond the first few waits for one of the others to end.
    """
    tasks: list[int] = []
    bounds: list[tuple[int, int, int]] = []
    if not np.any(jobs.throttle > 0):
        return tasks, bounds
    for own in _tasks(jobs).values():
        most = int(jobs.throttle[own].max())
        if not 0 < most < len(own):
            continue
        at_once = max(most, int(np.searchsorted(own, carried)))
        bounds.append((len(tasks), len(tasks) + at_once, len(tasks) + len(own)))
        missing[own[at_once:]] += 1
        tasks += own
    return tasks, bounds
