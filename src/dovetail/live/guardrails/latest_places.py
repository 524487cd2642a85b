"""The order nearest to a wanted one in which no job stands later than it may.

>>> meet((3, 1, 2), {2: 1})  # job 2 not behind the second place
(3, 2, 1)

From the last job of the wanted order to the first, each takes the latest free place that it may
have. So every place goes to the job that the wanted order has last, among those left that may stand
there. Had a nearer order another of these there, exchanging the two would keep every limit (the
other one moves forward) and mend at least one pair without breaking any: this is the order with the
fewest pairs against the wanted one, and the only one. The next free place is found by following
pointers that are shortened on the way, which takes nearly constant time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def meet(order: Sequence[int], latest: Mapping[int, int]) -> tuple[int, ...]:
    """`order` with every job at its latest place or before; jobs without one may stand anywhere.

    There must be such an order: callers give every job a latest place no earlier than its place
    in one and the same order.
    """
    last = len(order) - 1
    met = [0] * len(order)
    lower = list(range(len(order)))  # a free place: itself; a taken one: some place below it
    for job in reversed(order):
        place = min(latest.get(job, last), last)
        while place >= 0 and lower[place] != place:
            below = lower[place]
            lower[place] = place = lower[below] if below >= 0 else below
        if place < 0:
            raise ValueError(f"no order gives job {job} place {latest[job]} or an earlier one")
        met[place] = job
        lower[place] = place - 1
    return tuple(met)
