"""An order is read back as it was, whatever the one before it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dovetail.live.journal.orders import as_array, load, save

ORDERS = st.lists(st.integers(0, 2**40) | st.integers(0, 30), unique=True, max_size=40)


@given(st.lists(ORDERS, max_size=6))
def test_a_chain_of_differences_gives_every_order_back(orders: list[list[int]]) -> None:
    before = None
    for order in orders:
        saved = save(as_array(order), before)
        before = load(saved, before)
        assert before.tolist() == order


def test_a_job_that_leaves_and_one_that_comes_take_a_hundred_bytes_and_not_twenty_thousand() -> (
    None
):
    order = list(range(1_000_000, 1_000_000 + 10_000))[::-1]
    later = [*order[1:5000], 77, *order[5000:]]
    assert len(save(as_array(later), as_array(order))) < 100
