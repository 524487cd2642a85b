"""Decorators for compiled functions, typed so that callers keep their signatures."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cached_property
from typing import Any, ParamSpec, TypeVar, cast

from numba import cfunc, njit

from dovetail.compiled.cache import is_kept
from dovetail.compiled.linked import InnerCompiler, take_any_number

P = ParamSpec("P")
R = TypeVar("R")


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile to machine code on first use and keep the result on disk, where that is safe.

    NumPy's error model spares a branch per division (and lets loops vectorise); kernels
    therefore never divide by zero on purpose.
    """
    compiled: Callable[P, R] = njit(cache=is_kept(), error_model="numpy", nogil=True)(function)
    return compiled


def inner(function: Callable[P, R]) -> Callable[P, R]:
    """A kernel that only kernels call: it is kept and made machine code of as a part of them."""
    compiled: Any = njit(
        pipeline_class=InnerCompiler,
        error_model="numpy",
        nogil=True,
        no_cpython_wrapper=True,
        no_cfunc_wrapper=True,
    )(function)
    take_any_number(compiled)
    return cast("Callable[P, R]", compiled)


class LazyFunction:
    """A function that kernels call by pointer, compiled when it is first needed.

    A registry holds a dozen of these and a run needs two: compiling all of them on import took
    2 s the first time.
    """

    in_python = False
    """Whether every call comes back to Python."""

    def __init__(self, signature: Any, function: Callable[..., Any]) -> None:
        self.signature, self.function = signature, function
        self.__doc__, self.__module__ = function.__doc__, function.__module__

    @cached_property
    def pointer(self) -> Any:
        return cfunc(self.signature, cache=is_kept(), error_model="numpy")(self.function)

    @property
    def address(self) -> int:
        """Where the compiled function lies; see `simulator.called`."""
        return int(self.pointer.address)

    def __call__(self, *arguments: Any) -> Any:
        """Called from Python, it is the function as it was written."""
        return self.function(*arguments)

    def raise_failure(self, parameters: Any, jobs: Any) -> None:
        """Raise what went wrong in calls so far; only what runs in Python can fail."""

    def __reduce__(self) -> str | tuple[Any, ...]:
        """To another process it goes by its name, as functions do."""
        name = self.function.__qualname__
        if getattr(sys.modules.get(self.function.__module__), name, None) is self:
            return name
        return type(self), (self.signature, self.function)
