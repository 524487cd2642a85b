"""The order nearest to a wish within limits, found by looking at every order there is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, permutations

from dovetail.live.model.snapshot import Snapshot


def nearest_orders(wish: Sequence[int], latest: Mapping[int, int]) -> list[tuple[int, ...]]:
    """All orders that keep every latest place with the fewest pairs against the wish."""
    allowed = [
        order
        for order in permutations(wish)
        if all(place <= latest.get(job, len(wish)) for place, job in enumerate(order))
    ]
    fewest = min(pairs_against(wish, order) for order in allowed)
    return [order for order in allowed if pairs_against(wish, order) == fewest]


def by_slurm(jobs: Sequence[int], snapshot: Snapshot) -> list[int]:
    """Jobs by what Slurm alone would give them, highest first, then by number."""
    return sorted(jobs, key=lambda job: (-snapshot.factors[job].own, job))


def pairs_against(wish: Sequence[int], order: Sequence[int]) -> int:
    """How many pairs of jobs stand the other way round than wished."""
    return sum(order.index(first) > order.index(second) for first, second in combinations(wish, 2))


def places_lost(order: Sequence[int], own: Sequence[int]) -> dict[int, int]:
    """How many places each job stands behind its place in `own`."""
    return {job: order.index(job) - own.index(job) for job in order}
