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
    compiled: Callable[P, R] = njit(cache=True, error_model="numpy", nogil=True, no_cpython_wrapper=function.__name__ not in ("advance","_replay_x"), no_cfunc_wrapper=True)(function)
    return compiled


def inlined(function: Callable[P, R]) -> Callable[P, R]:
    """A kernel small enough that LLVM should always inline it."""
    compiled: Callable[P, R] = njit(
        cache=True, error_model="numpy", nogil=True, inline="never", forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True
    )(function)
    return compiled
