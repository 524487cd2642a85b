"""A band behind the head for how classes stand among each other: a lower one may lag a little.

>>> high = {1: 0, 2: 0, 3: 0, 4: 1, 5: 1, 6: 1}  # 0 is the highest class
>>> banded((1, 4, 2, 5, 3, 6), present=(1, 2, 4, 3, 5, 6), rank=high.__getitem__, exact=1, slack=1)
(1, 2, 4, 3, 5, 6)
>>> banded((1, 4, 2, 5, 3, 6), present=(4, 1, 5, 2, 6, 3), rank=high.__getitem__, exact=1, slack=1)
(1, 4, 2, 5, 3, 6)

Classes have the places that Slurm gave them, see guardrails/lines.py. Kept to the letter, one
arrival far back takes all jobs of its class past one job of another class each: with 1,000 waiting
jobs of three QOS most cycles cost 4 updates, and every fifth 20 to 130. So behind the head
there stand at least as many jobs of higher classes before any place as Slurm has there, and up to
some more. Where that no longer holds, the stretch is put into the middle of the band: it then holds
for a while.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from dovetail.domain.jobs import Ints
from dovetail.live.cycle.assignment import longest_run
from dovetail.live.cycle.dead_band import tolerance

ORDERED = frozenset({"tier", "qos"})
"""What of `binding` says who goes first; partitions and accounts are only told apart."""

MANY = 4
"""Where one job in so many moves within its class, as in a first cycle, all go to the middle."""

MOST_CLASSES = 16
"""With more, classes keep their places to the letter: each place is tried with every class."""


def class_ranks(
    lines: Mapping[int, tuple[object, ...]], binding: Sequence[str]
) -> dict[int, int] | None:
    """The class of each job, 0 the highest; None: they have no order, or are one or too many."""
    kinds = set(lines.values())
    if not 1 < len(kinds) <= MOST_CLASSES or not ORDERED.issuperset(binding):
        return None
    ranks = {kind: rank for rank, kind in enumerate(sorted(kinds, reverse=True))}
    return {job: ranks[kind] for job, kind in lines.items()}


def banded(
    order: Sequence[int],
    present: Sequence[int],
    rank: Callable[[int], int],
    exact: int,
    slack: int,
) -> tuple[int, ...]:
    """The jobs with each class in the same order, and classes among each other as they stand.

    present: the same jobs as they stand now; exact: places at the head that stay as they are;
    slack: by how many jobs a lower class may lag at most.
    """
    if slack < 1 or len(order) <= exact:
        return tuple(order)
    codes = np.fromiter(map(rank, order), np.int64, len(order))
    jobs = [np.asarray(order)[codes == code].tolist() for code in range(int(codes.max()) + 1)]
    standing, moving = _as_they_stand(order, present, jobs)
    wanted = _higher(codes, len(jobs))
    found = _higher(np.fromiter(map(rank, standing), np.int64, len(standing)), len(jobs))
    room = tolerance(np.arange(len(order)) - exact, slack)[:, None]
    anyway = moving * MANY > len(order)
    if not anyway and np.all((found >= wanted) & (found <= wanted + room)):
        return tuple(standing)
    place = dict(zip(standing, range(len(standing)), strict=True))
    keys = [[place[job] for job in each] for each in jobs]
    middle = np.minimum(wanted + room // 2, np.minimum(_places(wanted), wanted[-1]))
    targets = middle if anyway else _targets(wanted, found, room, middle)
    return _walk(jobs, keys, wanted, wanted + room, targets) or tuple(order)


def _places(counts: Ints) -> Ints:
    """[places, 1] from 1."""
    return np.arange(1, len(counts) + 1)[:, None]


def _higher(codes: Ints, classes: int) -> Ints:
    """[places, classes - 1] jobs of a class or a higher one up to each place."""
    counts: Ints = np.cumsum(codes[:, None] <= np.arange(classes - 1), axis=0)
    return counts


def _as_they_stand(
    order: Sequence[int], present: Sequence[int], jobs: Sequence[Sequence[int]]
) -> tuple[list[int], int]:
    """Jobs that stay among their own class stay among all; the others go between their own.

    And how many of these there are.
    """
    now = dict(zip(present, range(len(present)), strict=True))
    wished = dict(zip(order, range(len(order)), strict=True))
    keys: list[tuple[int, int, int]] = []  # key, place within the class, job
    moving = 0
    for own in jobs:
        at = [now[job] for job in own]
        stays = set(longest_run([-place for place in at]))
        moving += len(own) - len(stays)
        after = len(order)
        limits = [0] * len(own)  # the next that stays, from each job on
        for i in range(len(own) - 1, -1, -1):
            after = at[i] if i in stays else after
            limits[i] = after
        key = 0
        for i, job in enumerate(own):
            key = at[i] if i in stays else max(key, min(wished[job], limits[i]))
            keys.append((key, i, job))
    return [job for _, _, job in sorted(keys)], moving


def _targets(wanted: Ints, found: Ints, room: Ints, middle: Ints) -> Ints:
    """What to aim at: as it stands, and in stretches that are out of the band its middle."""
    low, high = np.minimum(wanted + room // 4, middle), wanted + 3 * room // 4
    targets: Ints = found.copy()
    for level in range(wanted.shape[1]):
        column = found[:, level]
        out = (column < wanted[:, level]) | (column > wanted[:, level] + room[:, 0])
        tight = (column < low[:, level]) | (column > high[:, level])
        rows = _grown(out, tight)
        targets[rows, level] = middle[rows, level]
    return targets


def _grown(core: np.ndarray, around: np.ndarray) -> np.ndarray:
    """Runs of `around` in which there is any of `core`."""
    run = np.cumsum(np.diff(around.astype(np.int8), prepend=0) != 0)
    return around & np.isin(run, np.unique(run[core & around]))


def _walk(
    jobs: Sequence[Sequence[int]],
    keys: Sequence[Sequence[int]],
    least: Ints,
    most: Ints,
    targets: Ints,
) -> tuple[int, ...] | None:
    """Place by place the class that comes nearest to the target within the bounds.

    keys: of each job, as they stand; the lower goes first where two classes are as near.
    """
    levels, classes = range(least.shape[1]), range(len(jobs))
    taken, counts, result = [0] * len(jobs), [0] * least.shape[1], []
    for low, high, goal in zip(least.tolist(), most.tolist(), targets.tolist(), strict=True):
        best, chosen = (0, 0), -1
        for code in classes:
            if taken[code] == len(jobs[code]):
                continue
            off = 0
            for level in levels:
                count = counts[level] + (code <= level)
                if not low[level] <= count <= high[level]:
                    break
                off += abs(count - goal[level])
            else:
                if chosen < 0 or (off, keys[code][taken[code]]) < best:
                    best, chosen = (off, keys[code][taken[code]]), code
        if chosen < 0:
            return None
        result.append(jobs[chosen][taken[chosen]])
        taken[chosen] += 1
        for level in levels:
            counts[level] += chosen <= level
    return tuple(result)
