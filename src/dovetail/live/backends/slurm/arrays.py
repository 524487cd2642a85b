"""Job arrays: what is left of one is one job, as long as Slurm keeps it as one record.

>>> labelled(LiveJob(17, "17_1", "PENDING", array=17), {1, 2, 3, 5}).label
'17_[1-3,5]'

A label must name all tasks that the record still has: a change to fewer of them makes Slurm split
the array into a record for each task.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from operator import itemgetter

from dovetail.live.model.snapshot import LiveJob
from dovetail.slurm.job_arrays import ranges_of, tasks_of

_ID, _ARRAY = (itemgetter(LiveJob._fields.index(name)) for name in ("id", "array"))


def labelled(job: LiveJob, tasks: Collection[int]) -> LiveJob:
    """The record of an array with the tasks that it stands for."""
    label = f"{job.array}_[{ranges_of(tasks)}]"
    return job._replace(label=label, tasks=len(tasks)) if len(tasks) > 1 else job


def joined(jobs: Sequence[LiveJob], exact: Mapping[int, Collection[int]]) -> list[LiveJob]:
    """Tasks of one record as one job; `exact` corrects the tasks of doubtful ones."""
    if not exact and len(set(map(_ID, jobs))) == len(jobs):
        return list(jobs)  # at a third of the price of looking closer
    records = _records(jobs)
    return [
        labelled(rows[0], exact.get(number) or _numbers(rows)) if rows[0].array else rows[0]
        for number, rows in records.items()
    ]


def doubtful(jobs: Sequence[LiveJob]) -> dict[int, tuple[int, ...]]:
    """Records of arrays that may have a task more than `squeue -r` shows, with what it shows.

    Slurm 22.05 loses the last of tasks in equal steps: of 1-19:2 it shows 1 to 17.
    """
    found: dict[int, tuple[int, ...]] = {}
    if not any(map(_ARRAY, jobs)):
        return found
    for number, rows in _records([job for job in jobs if job.id == job.array]).items():
        tasks = sorted(_numbers(rows))
        steps = {high - low for low, high in pairwise(tasks)}
        if rows[0].pending and (not steps or (len(steps) == 1 and steps != {1})):
            found[number] = tuple(tasks)
    return found


def without_split(told: Mapping[int, str], jobs: Sequence[LiveJob]) -> dict[int, set[int]]:
    """Tasks of each record from squeue's own list, in which those split off are folded again."""
    split: dict[int, set[int]] = {}
    for job in jobs:
        if job.array and job.id != job.array:
            split.setdefault(job.array, set()).update(_numbers([job]))
    return {number: tasks_of(text) - split.get(number, set()) for number, text in told.items()}


def _records(jobs: Sequence[LiveJob]) -> dict[int, list[LiveJob]]:
    records: dict[int, list[LiveJob]] = {}
    for job in jobs:
        records.setdefault(job.id, []).append(job)
    return records


def _numbers(rows: Sequence[LiveJob]) -> set[int]:
    return {int(row.label.partition("_")[2]) for row in rows}
