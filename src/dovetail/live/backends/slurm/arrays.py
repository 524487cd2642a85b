"""Job arrays: what is left of one is one job, as long as Slurm keeps it as one record.

>>> sorted(tasks_of("1-9:2,12%3"))
[1, 3, 5, 7, 9, 12]
>>> ranges_of({1, 2, 3, 5})
'1-3,5'

A label must name all tasks that the record still has: a change to fewer of them makes Slurm split
the array into a record for each task.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise

from dovetail.live.model.snapshot import LiveJob


def tasks_of(text: str) -> set[int]:
    """The tasks of Slurm's `1-9:2,12%3`; how many may run at once, after %, is left out."""
    tasks: set[int] = set()
    for part in text.partition("%")[0].split(","):
        span, _, step = part.partition(":")
        low, _, high = span.partition("-")
        tasks.update(range(int(low), int(high or low) + 1, int(step or 1)))
    return tasks


def ranges_of(numbers: Iterable[int]) -> str:
    """Numbers as scontrol takes them: 1-3,5,9-12."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ",".join(str(low) if low == high else f"{low}-{high}" for low, high in runs)


def labelled(job: LiveJob, tasks: Collection[int]) -> LiveJob:
    """The record of an array with the tasks that it stands for."""
    label = f"{job.array}_[{ranges_of(tasks)}]"
    return job._replace(label=label, tasks=len(tasks)) if len(tasks) > 1 else job


def joined(jobs: Sequence[LiveJob], exact: Mapping[int, Collection[int]]) -> list[LiveJob]:
    """Tasks of one record as one job; `exact` corrects the tasks of doubtful ones."""
    records = _records(jobs)
    if len(records) == len(jobs) and not exact:
        return list(jobs)
    return [
        labelled(rows[0], exact.get(number) or _numbers(rows)) if rows[0].array else rows[0]
        for number, rows in records.items()
    ]


def doubtful(jobs: Sequence[LiveJob]) -> dict[int, tuple[int, ...]]:
    """Records of arrays that may have a task more than `squeue -r` shows, with what it shows.

    Slurm 22.05 loses the last of tasks in equal steps: of 1-19:2 it shows 1 to 17.
    """
    found = {}
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
