"""The band for classes: a higher one never loses a place to a lower one, and few jobs move."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dovetail.live.cycle.assignment import longest_run
from dovetail.live.cycle.class_band import banded, class_ranks
from dovetail.live.cycle.dead_band import tolerance

Case = tuple[list[int], list[int], dict[int, int], int, int]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    jobs = list(range(draw(st.integers(1, 60))))
    order, present = draw(st.permutations(jobs)), draw(st.permutations(jobs))
    most = draw(st.integers(0, 3))
    ranks = {job: draw(st.integers(0, most)) for job in jobs}
    return order, present, ranks, draw(st.integers(0, 20)), draw(st.integers(0, 9))


@given(cases())
def test_every_class_keeps_its_own_order_and_the_head_is_as_wished(case: Case) -> None:
    order, present, ranks, exact, slack = case
    found = banded(order, present, ranks.__getitem__, exact, slack)
    for code in set(ranks.values()):
        assert [j for j in found if ranks[j] == code] == [j for j in order if ranks[j] == code]
    assert [ranks[job] for job in found[:exact]] == [ranks[job] for job in order[:exact]]
    assert list(found[:exact]) == order[:exact]


@given(cases())
def test_a_lower_class_never_leads_and_lags_within_the_band(case: Case) -> None:
    order, present, ranks, exact, slack = case
    found = banded(order, present, ranks.__getitem__, exact, slack)
    room = tolerance(np.arange(len(order)) - exact, slack)
    for code in set(ranks.values()):
        wanted = np.cumsum([ranks[job] <= code for job in order])
        stands = np.cumsum([ranks[job] <= code for job in found])
        assert np.all(stands >= wanted)
        assert np.all(stands <= wanted + room)


@given(cases())
def test_what_stands_within_the_band_is_left_as_it_is(case: Case) -> None:
    order, present, ranks, exact, slack = case
    found = banded(order, present, ranks.__getitem__, exact, slack)
    assert banded(order, found, ranks.__getitem__, exact, slack) == found


@given(cases())
def test_without_slack_there_is_no_band(case: Case) -> None:
    order, present, ranks, exact, _ = case
    assert banded(order, present, ranks.__getitem__, exact, 0) == tuple(order)


def movements(present: Sequence[int], found: Sequence[int]) -> int:
    """How many jobs have to be moved."""
    place = {job: at for at, job in enumerate(found)}
    return len(found) - len(longest_run([-place[job] for job in present]))


def test_arrivals_of_a_class_that_is_mixed_with_another_move_few_jobs() -> None:
    """Each goes to the front of its class and takes, by Slurm's own priority, the last place."""
    ranks = {job: job % 2 for job in range(400)}
    order = list(range(400))
    stands = banded(order, order[::-1], ranks.__getitem__, exact=20, slack=40)
    to_the_letter = moved = 0
    for new in range(401, 461, 2):
        ranks[new] = 1
        low = [job for job in order if ranks[job] == 1]
        front = [*low[:100], new, *low[100:]]
        # The pattern of Slurm's own order has one more place at its end.
        places = iter([ranks[job] for job in order] + [1])
        own = {0: iter([job for job in order if ranks[job] == 0]), 1: iter(front)}
        wanted = [next(own[code]) for code in places]
        present = [*stands, new]
        found = banded(wanted, present, ranks.__getitem__, exact=20, slack=40)
        to_the_letter += movements([*order, new], wanted)
        moved += movements(present, found)
        order, stands = wanted, found
    assert to_the_letter > 30 * 50
    assert moved < 30 * 10


def test_only_what_says_who_goes_first_makes_an_order_of_classes() -> None:
    lines = {1: (1, 0), 2: (2, 0), 3: (1, 5)}
    assert class_ranks(lines, ("tier", "qos")) == {2: 0, 3: 1, 1: 2}
    assert class_ranks(lines, ("tier", "account")) is None
    assert class_ranks({1: (1, 0), 2: (1, 0)}, ("tier", "qos")) is None
    assert class_ranks({job: (1, job) for job in range(40)}, ("tier", "qos")) is None
