"""A dead band behind the head of the order: a job that is nearly in its place is left there.

>>> settled((1, 2, 3, 5, 4), present=(1, 2, 3, 4, 5), line=lambda job: (), exact=2, slack=1)
(1, 2, 3, 4, 5)
>>> settled((5, 1, 2, 3, 4), present=(1, 2, 3, 4, 5), line=lambda job: (), exact=2, slack=1)
(5, 1, 2, 3, 4)

Slurm looks at the head of the queue. There the order is kept to the letter; further back a job is
moved only when it is more than so many places off. It comes to the head in time, one message a job.
With 1,000 waiting jobs, of which a quarter stood where `displacement` just let them, every start
moved 90 to 100 of them by one place each.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence, Set

import numpy as np

from dovetail.domain.jobs import Ints

EXACT = 100
"""Places at the head that are kept to the letter: what Slurm's main scheduler looks at."""
STEPS = 2
"""Behind the head a place more of tolerance for so many places."""


def settled(
    order: Sequence[int],
    present: Sequence[int],
    line: Callable[[int], Hashable],
    exact: int = EXACT,
    slack: int = 0,
    must: Set[int] = frozenset(),
) -> tuple[int, ...]:
    """The order, with jobs behind the head left in their present one where it is near enough.

    present: the same jobs as they stand now; line: jobs of different ones keep their places among
    each other as in `order`; slack: the most places that a job may be off; must: jobs that take
    their place in any case.
    """
    if slack < 1 or len(order) <= exact:
        return tuple(order)
    lines = list(map(line, order))
    if len(set(lines)) == 1:  # mostly: then nobody has to be told apart
        return tuple(_near(order, present, range(len(order)), exact, slack, must))
    places: dict[Hashable, list[int]] = {}  # of each class in the order
    for place, key in enumerate(lines):
        places.setdefault(key, []).append(place)
    stands: dict[Hashable, list[int]] = {}
    for job in present:
        stands.setdefault(line(job), []).append(job)
    result = list(order)
    for key, taken in places.items():
        wished = [order[place] for place in taken]
        for place, job in zip(
            taken, _near(wished, stands[key], taken, exact, slack, must), strict=True
        ):
            result[place] = job
    return tuple(result)


def tolerance(behind: Ints, slack: int) -> Ints:
    """Places that a job may be off, so many places behind the head; none within it."""
    allowed: Ints = np.where(behind >= 0, np.minimum(slack, behind // STEPS + 1), 0)
    return allowed


def _near(
    wished: Sequence[int],
    present: Sequence[int],
    places: Sequence[int],
    exact: int,
    slack: int,
    must: Set[int],
) -> list[int]:
    """One class: those too far off at their wanted place, the others between as they stand."""
    now = dict(zip(present, range(len(present)), strict=True))
    off = np.fromiter(map(now.__getitem__, wished), np.int64, len(wished))
    off = np.abs(off - np.arange(len(wished)))
    behind = np.asarray(places) - exact
    near = ((behind >= 0) & (off <= tolerance(behind, slack))).tolist()
    moved = {job for job, stays in zip(wished, near, strict=True) if not stays or job in must}
    staying = iter([job for job in present if job not in moved])
    return [job if job in moved else next(staying) for job in wished]
