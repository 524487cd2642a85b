"""The dead band: the head to the letter, nobody far from his place, no class crossed."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dovetail.live.cycle.dead_band import settled


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[int], list[int], dict[int, int], int, int]:
    jobs = list(range(draw(st.integers(1, 60))))
    order, present = draw(st.permutations(jobs)), draw(st.permutations(jobs))
    classes = {job: draw(st.integers(0, 2)) for job in jobs}
    return order, present, classes, draw(st.integers(0, 20)), draw(st.integers(0, 9))


@given(cases())
def test_every_job_has_one_place_and_the_head_is_as_wished(
    case: tuple[list[int], list[int], dict[int, int], int, int],
) -> None:
    order, present, classes, exact, slack = case
    found = settled(order, present, classes.__getitem__, exact, slack)
    assert sorted(found) == sorted(order)
    assert list(found[:exact]) == order[:exact]


@given(cases())
def test_every_class_keeps_its_places(
    case: tuple[list[int], list[int], dict[int, int], int, int],
) -> None:
    order, present, classes, exact, slack = case
    found = settled(order, present, classes.__getitem__, exact, slack)
    assert [classes[job] for job in found] == [classes[job] for job in order]


@given(cases())
def test_an_order_that_stands_already_is_left_as_it_is(
    case: tuple[list[int], list[int], dict[int, int], int, int],
) -> None:
    order, _, classes, exact, slack = case
    assert settled(order, order, classes.__getitem__, exact, slack) == tuple(order)


@given(cases())
def test_without_slack_there_is_no_dead_band(
    case: tuple[list[int], list[int], dict[int, int], int, int],
) -> None:
    order, present, classes, exact, _ = case
    assert settled(order, present, classes.__getitem__, exact, 0) == tuple(order)


def test_jobs_that_must_move_do() -> None:
    def alone(job: int) -> int:
        return 0

    order, present = (1, 2, 3, 5, 4), (1, 2, 3, 4, 5)
    assert settled(order, present, alone, exact=1, slack=2) == present
    assert settled(order, present, alone, exact=1, slack=2, must={5}) == order
