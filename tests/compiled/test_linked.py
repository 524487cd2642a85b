"""Inner kernels end up in whatever calls them, whoever that is, and are compiled once."""

from __future__ import annotations

import math
from typing import Any

import numba
import pytest
from numba import types

from dovetail.compiled.functions import LazyFunction, inner, kernel, merged_kernel
from dovetail.compiled.linked import MergedCompiler, UnlinkedLibrary


@inner
def add(a: int, b: int) -> int:
    return a + b


@inner
def add_twice(a: int, b: int) -> int:
    return add(add(a, b), b)


@inner
def root(a: float) -> float:
    if a < 0.0:
        raise ValueError("below zero")
    return math.sqrt(a)


@kernel
def through_two(a: int) -> int:
    return add_twice(a, 1) + add(a, -1)


@kernel
def through_root(a: float) -> float:
    return root(a)


def test_a_kernel_calls_inner_kernels_through_inner_kernels() -> None:
    assert through_two(5) == 7 + 4


@numba.njit  # type: ignore[untyped-decorator]
def compiled_anew(a: int) -> int:
    """The same without a cache: what is loaded from one has compiled no inner kernel."""
    return add_twice(a, 1) + add(a, -1)


def test_numbers_in_the_source_make_no_copies() -> None:
    assert compiled_anew(5) == 11
    made: Any = add
    numbers = [kinds for kinds in made.dispatcher.overloads if types.float64 not in kinds]
    assert numbers == [(types.int64, types.int64)]


def test_an_inner_kernel_has_no_machine_code_of_its_own() -> None:
    compiled_anew(5)
    made: Any = add_twice
    compiled = next(iter(made.dispatcher.overloads.values()))
    assert isinstance(compiled.library, UnlinkedLibrary)
    engine = compiled.library.codegen._engine
    assert not engine.is_symbol_defined(compiled.fndesc.llvm_func_name)


def test_functions_that_are_not_ours_may_call_one_too() -> None:
    @numba.njit  # type: ignore[untyped-decorator]
    def somebody(a: int) -> int:
        return add_twice(a, 2)

    assert somebody(1) == 5


def test_a_function_that_is_called_by_address_may_call_one_too() -> None:
    def thrice(a: Any) -> Any:
        return add_twice(a, a)

    lazy = LazyFunction(types.float64(types.float64), thrice)
    assert lazy.pointer.ctypes(2.0) == 6.0


def test_an_error_passes_through() -> None:
    assert through_root(9.0) == 3.0
    with pytest.raises(ValueError, match="below zero"):
        through_root(-1.0)


@inner
def lengthy(unread: float, a: float, times: int) -> float:
    """Too long to be written into its callers; LLVM drops an argument of it where it may."""
    found = a
    for i in range(times):
        found += math.erf(found + i) * math.lgamma(2.0 + math.erf(a))
        found += math.erfc(found + i) * math.erf(found * a)
        found += math.asinh(found + i) * math.erf(found * a)
        found += math.asinh(found + i) * math.erfc(found * a)
        found += math.erf(found + i) * math.lgamma(2.0 + math.erf(a))
        found += math.erfc(found + i) * math.erf(found * a)
        found += math.asinh(found + i) * math.erf(found * a)
        found += math.asinh(found + i) * math.erfc(found * a)
        found += math.erf(found + i) * math.lgamma(2.0 + math.erf(a))
        found += math.erfc(found + i) * math.erf(found * a)
        found += math.asinh(found + i) * math.erf(found * a)
        found += math.asinh(found + i) * math.erfc(found * a)
    return found


@merged_kernel
def merged(a: float) -> float:
    return lengthy(1.0, a, 3) + lengthy(2.0, a, 4)


@kernel
def shared(a: float) -> float:
    return lengthy(1.0, a, 3) + lengthy(2.0, a, 4)


def test_a_merged_kernel_shares_nothing_with_kernels_that_come_after_it() -> None:
    """By one name for both, the second called the first one's code with arguments of its own."""
    assert merged(2.0) == shared(2.0) == merged(2.0)


def test_a_merged_kernel_has_all_that_it_calls_for_its_own() -> None:
    @numba.njit(pipeline_class=MergedCompiler)  # type: ignore[untyped-decorator]
    def anew(a: float) -> float:
        return lengthy(1.0, a, 3) + lengthy(2.0, a, 4)

    assert anew(2.0) == shared(2.0)
    (text,) = anew.inspect_llvm().values()
    assert "linkonce_odr" not in text
