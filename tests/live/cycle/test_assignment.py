"""Dealing priorities out anew: our order, nobody else passed, few messages."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail.live.cycle.assignment import HIGHEST, LOWEST, assign

OWN = st.dictionaries(
    st.integers(1, 60), st.integers(LOWEST, 40) | st.integers(1, 100_000), min_size=1, max_size=30
)
Case = tuple[list[int], dict[int, int], dict[int, int], list[int], int]
"""Order, own priorities, present ones, those of others, horizon."""


@st.composite
def cases(draw: st.DrawFn) -> Case:
    own = draw(OWN)
    order = draw(st.permutations(sorted(own)))
    others = draw(st.lists(st.integers(LOWEST, 40) | st.integers(1, 100_000), max_size=5))
    now = {job: draw(st.integers(LOWEST, 60) | st.integers(1, 100_000)) for job in own}
    return order, own, now, others, draw(st.integers(1, 40))


def above(limit: int, values: dict[int, int]) -> int:
    return sum(value > limit for value in values.values())


@given(cases())
def test_whoever_is_not_touched_is_passed_by_no_more_jobs_than_slurm_let_pass(case: Case) -> None:
    order, own, now, others, horizon = case
    values = assign(order, own, now, others, horizon)
    assert all(above(u, values) <= above(u, own) for u in others)


@given(cases())
def test_with_nobody_to_respect_the_head_of_the_order_stands_exactly_so(case: Case) -> None:
    order, own, now, _, horizon = case
    values = assign(order, own, now, [], horizon)
    head = [values[job] for job in order[:horizon]]
    assert head == sorted(set(head), reverse=True)
    assert all(values[job] < head[-1] for job in order[horizon:])


@given(cases())
def test_the_order_of_the_head_is_never_turned_round(case: Case) -> None:
    order, own, now, others, horizon = case
    head = [assign(order, own, now, others, horizon)[job] for job in order[:horizon]]
    assert head == sorted(head, reverse=True)


@given(cases())
def test_what_has_been_assigned_is_left_as_it_is(case: Case) -> None:
    order, own, now, others, horizon = case
    values = assign(order, own, now, others, horizon)
    again = assign(order, own, values, others, horizon)
    assert {job: again[job] for job in order} == values
    assert all(LOWEST <= value <= HIGHEST for value in values.values())


@given(cases())
@settings(max_examples=50)
def test_an_order_that_slurm_has_already_costs_no_message(case: Case) -> None:
    _, own, _, others, horizon = case
    distinct = {job: value * 100 + i for i, (job, value) in enumerate(own.items())}
    order = sorted(distinct, key=lambda job: -distinct[job])
    assert assign(order, distinct, distinct, others, horizon) == distinct


def test_a_new_job_in_the_middle_moves_nobody_else() -> None:
    own = dict(zip(range(1, 6), (5000, 4000, 3000, 2000, 1000), strict=True))
    values = assign([1, 2, 5, 3, 4], own, own, [], 10)
    assert {job: value for job, value in values.items() if value != own[job]} == {5: values[5]}
    assert 3000 < values[5] < 4000


def test_jobs_beyond_the_horizon_that_stood_in_front_go_down() -> None:
    own = {1: 500, 2: 400, 3: 300, 4: 200}
    values = assign([4, 3, 2, 1], own, own, [], 1)
    assert values[4] > max(values[1], values[2], values[3])
    assert values[2] == 400
    assert values[3] == 300  # only what stood in front had to move


def test_a_job_bound_by_an_sla_stays_first() -> None:
    own = {1: 100, 2: 100, 3: 90}
    values = assign([3, 2, 1], own, own, [100], 10)
    assert values[3] <= 100
    assert values[3] > values[2] > values[1]
