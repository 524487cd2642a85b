"""From an order to priorities: the values that Slurm gave, dealt out anew among the jobs we touch.

>>> assign([3, 1, 2], own={1: 300, 2: 200, 3: 100}, now={}, others=[], horizon=10)
{3: 300, 1: 200, 2: 100}

The first job of our order gets the highest priority that any touchable job has, the next one the
next. Whoever is not touched, such as a job bound by an SLA, keeps his place among all: no more
jobs stand above him than Slurm itself had put there.

Only differences cost a message to Slurm. As factors move with age and usage, a job keeps its value
while it still stands between its neighbours; the longest run of such jobs stays as it is.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence

LOWEST = 1
"""Slurm holds jobs at 0."""

GAP = 64
"""Left between jobs that change places, so that a later one can go between without moving them."""

HIGHEST = 4_000_000_000
"""Slurm's own limit is a little above."""


def assign(
    order: Sequence[int],
    own: Mapping[int, int],
    now: Mapping[int, int],
    others: Sequence[int],
    horizon: int,
    floor: int = 0,
) -> dict[int, int]:
    """The priority of every touchable job: `own` for most, others by their place in the order.

    order: touchable jobs, first to go first; own: what Slurm alone gives each; now: what it has
    now, our factor included; others: priorities of waiting jobs that are not touched; horizon:
    how many jobs of the order must stand exactly so. The jobs after these only stand below them;
    floor: the highest priority of further jobs that stand below them, too.
    """
    moved, slots, rest = _deal(order, own, horizon)
    floor = max(floor, rest)
    walls = sorted(set(others))
    head = min(horizon, len(order))
    fresh = _spread(slots, head, floor, walls)
    kept = _keep(moved, fresh, now, walls, head, floor)
    values = {job: own[job] for job in order}
    values.update(zip(moved, kept or fresh, strict=True))
    return values


def _deal(
    order: Sequence[int], own: Mapping[int, int], horizon: int
) -> tuple[list[int], list[int], int]:
    """The jobs that get another's priority, the priorities dealt, the highest of all the rest.

    The head of the order takes the highest values; jobs that stood there and are not of the head
    take, in their order, the values that the head leaves behind. All others keep their own.
    """
    ranked = sorted(sorted(order), key=own.__getitem__, reverse=True)
    head, top = list(order[:horizon]), ranked[:horizon]
    standing, heading = set(top), set(head)
    pushed = [job for job in order[horizon:] if job in standing]
    left = sorted((own[job] for job in head if job not in standing), reverse=True)
    slots = [own[job] for job in top] + left
    rest = [own[job] for job in order if job not in standing and job not in heading]
    return head + pushed, slots, max(rest, default=0)


def _spread(slots: Sequence[int], head: int, floor: int, walls: Sequence[int]) -> list[int]:
    """Make the values differ: upwards as far as the next wall, downwards from there.

    Values of the head stay above `floor`, that of jobs left alone, where there is room.
    """
    values = list(slots)
    below = LOWEST - 1
    for i in range(len(values) - 1, -1, -1):
        least = max(below + 1, floor + 1) if i < head else below + 1
        values[i] = max(values[i], least)
        below = values[i]
    above = HIGHEST + 1
    for i, slot in enumerate(slots):
        values[i] = max(LOWEST, min(values[i], above - 1, _ceiling(slot, walls)))
        above = values[i]
    return values


def _ceiling(slot: int, walls: Sequence[int]) -> int:
    """The highest value that passes nobody who was not passed by the slot's own value."""
    at = bisect_left(walls, slot)
    return walls[at] if at < len(walls) else HIGHEST


def _keep(
    jobs: Sequence[int],
    fresh: Sequence[int],
    now: Mapping[int, int],
    walls: Sequence[int],
    head: int,
    floor: int,
) -> list[int] | None:
    """The same order with as many jobs as possible left as they are; None: there is no room."""
    allowed = [
        (_room(value, walls, floor if i < head and value > floor else 0))
        for i, value in enumerate(fresh)
    ]
    values = [now.get(job, -1) for job in jobs]
    keep = _longest_falling(
        [value if low <= value <= high else None
         for value, (low, high) in zip(values, allowed, strict=True)]
    )  # fmt: skip
    result: list[int] = []
    above, begin = HIGHEST + 1, 0
    for stop in [*keep, len(jobs)]:
        below = values[stop] if stop < len(jobs) else LOWEST - 1
        run = _between(fresh[begin:stop], allowed[begin:stop], above, below)
        if run is None:
            return None
        result += run
        if stop < len(jobs):
            result.append(values[stop])
            above, begin = values[stop], stop + 1
    return result


def _room(value: int, walls: Sequence[int], floor: int) -> tuple[int, int]:
    """The values that stand where this one stands among those that are not touched."""
    at = bisect_left(walls, value)
    low = walls[at - 1] + 1 if at > 0 else LOWEST
    high = walls[at] if at < len(walls) else HIGHEST
    return max(low, floor + 1), high


def _between(
    wanted: Sequence[int], allowed: Sequence[tuple[int, int]], above: int, below: int
) -> list[int] | None:
    """Falling values between two that stay, near those wanted; None: there is no room."""
    count = len(wanted)
    if above - below - 1 < count:
        return None
    values: list[int] = []
    for i, (value, (low, high)) in enumerate(zip(wanted, allowed, strict=True)):
        # So many steps must remain below for the jobs that follow.
        most, least = min(above - 1, high), max(below + count - i, low)
        if most < least:
            return None
        gap = min(GAP, (most - least) // 2)  # room for those who come between later
        if value < least:
            value = least + gap
        elif value > most:
            value = most - gap
        values.append(value)
        above = value
    return values


def _longest_falling(values: Sequence[int | None]) -> list[int]:
    """Places of the longest strictly falling run of the values that are given."""
    tails: list[int] = []  # negated last values of the best run of each length
    ends: list[int] = []
    before: list[int] = [-1] * len(values)
    for i, value in enumerate(values):
        if value is None:
            continue
        at = bisect_left(tails, -value)
        before[i] = ends[at - 1] if at else -1
        if at == len(tails):
            tails.append(-value)
            ends.append(i)
        else:
            tails[at], ends[at] = -value, i
    run: list[int] = []
    i = ends[-1] if ends else -1
    while i >= 0:
        run.append(i)
        i = before[i]
    return run[::-1]
