"""Distinct rows are what np.unique finds."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from dovetail.domain.distinct import distinct_rows


@given(arrays(np.int64, array_shapes(min_dims=2, max_dims=2), elements=st.integers(-3, 3)))
def test_rows_and_numbers_are_those_of_numpy(table: np.ndarray) -> None:
    rows, which = distinct_rows(table)
    expected, numbers = np.unique(table, axis=0, return_inverse=True)
    assert np.array_equal(rows, expected)
    assert np.array_equal(which, numbers.ravel())


def test_no_rows_have_none_that_are_distinct() -> None:
    rows, which = distinct_rows(np.zeros((0, 3), np.int64))
    assert rows.shape == (0, 3)
    assert which.tolist() == []
