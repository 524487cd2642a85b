"""The one decorator for compiled functions, typed so that callers keep their signatures."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from numba import njit

P = ParamSpec("P")
R = TypeVar("R")


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile to machine code on first use and keep the result on disk.

    NumPy's error model spares a branch per division (and lets loops vectorise); kernels
    therefore never divide by zero on purpose.
    """
    compiled: Callable[P, R] = njit(cache=True, error_model="numpy", nogil=True)(function)
    return compiled


def inner(function: Callable[P, R]) -> Callable[P, R]:
    """A kernel that only kernels call: without a door to Python it compiles 20 % faster."""
    compiled: Callable[P, R] = njit(
        cache=True,
        error_model="numpy",
        nogil=True,
        no_cpython_wrapper=True,
        no_cfunc_wrapper=True,
    )(function)
    return compiled
