"""What is kept for kernels is what was given, for as long as it is kept."""

from __future__ import annotations

import gc
from typing import Any, NamedTuple

import numpy as np
from numba import cfunc, types

from dovetail.compiled.functions import kernel
from dovetail.compiled.native import Kept, native_type, taker
from dovetail.domain.jobs import Floats, Ints

NUMBER = types.float64(types.float64)


class Inner(NamedTuple):
    counts: Ints
    twice: Any
    on: bool


class Given(NamedTuple):
    values: Floats
    inner: Inner
    share: float


GIVEN = native_type(
    Given, inner=native_type(Inner, twice=types.FunctionType(NUMBER), counts=types.int64[:, ::1])
)
take = taker(GIVEN)


@cfunc(NUMBER)  # type: ignore[untyped-decorator]
def twice(value: float) -> float:
    return 2.0 * value


@kernel
def use(at: int) -> float:
    given = take(at)
    given.values[0] += 1.0
    found: float = given.inner.twice(given.values[1]) + given.inner.counts[1, 2] + given.share
    return found if given.inner.on else -found


def test_a_kernel_takes_the_arrays_functions_and_numbers_that_were_given() -> None:
    values, counts = np.array([0.0, 4.0]), np.arange(6).reshape(2, 3)
    kept = Kept(Given(values, Inner(counts, twice, False), 0.25), GIVEN)
    assert use(kept.address) == -(8.0 + 5 + 0.25)
    assert values[0] == 1.0  # the same memory, not a copy
    values[1] = 0.0
    assert use(kept.address) == -5.25


def test_what_is_kept_outlives_the_names_that_it_was_given_by() -> None:
    kept = [
        Kept(Given(np.full(2, float(i)), Inner(np.full((2, 3), i), twice, True), 0.0), GIVEN)
        for i in range(100)
    ]
    gc.collect()
    _ = [np.zeros(2) for _ in range(1000)]
    assert [use(one.address) for one in kept] == [3.0 * i for i in range(100)]
