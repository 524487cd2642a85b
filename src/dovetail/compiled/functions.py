"""Decorators for compiled functions, typed so that callers keep their signatures."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cached_property
from typing import Any, ParamSpec, TypeVar, cast

from numba import njit
from numba.core.caching import FunctionCache
from numba.core.ccallback import CFunc
from numba.core.runtime import rtsys
from numba.core.sigutils import normalize_signature
from numba.experimental import function_type  # noqa: F401 - functions as arguments of kernels

from dovetail.compiled.cache import is_kept
from dovetail.compiled.linked import InnerCompiler, MergedCompiler, take_any_number

P = ParamSpec("P")
R = TypeVar("R")


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile to machine code on first use and keep the result on disk, where that is safe.

    NumPy's error model spares a branch per division (and lets loops vectorise); kernels
    therefore never divide by zero on purpose.
    """
    compiled: Any = njit(error_model="numpy", nogil=True)(function)
    _keep(compiled, function)
    return cast("Callable[P, R]", compiled)


def merged_kernel(function: Callable[P, R]) -> Callable[P, R]:
    """A kernel in which most of the time is spent: a fifth longer to compile, a quarter faster.

    See `MergedLibrary`. A step of 512 environments took 2.9 instead of 3.9 µs a decision.
    """
    compiled: Any = njit(error_model="numpy", nogil=True, pipeline_class=MergedCompiler)(function)
    _keep(compiled, function)
    return cast("Callable[P, R]", compiled)


class InnerKernel:
    """A kernel that only kernels call: it is kept and made machine code of as a part of them.

    Numba hears of it when a kernel that calls it is compiled. Most starts load all kernels from
    disk, and 450 functions for Numba that nobody calls were a fifteenth of a start.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.__doc__, self.__module__ = function.__doc__, function.__module__

    @cached_property
    def dispatcher(self) -> Any:
        compiled = njit(
            pipeline_class=InnerCompiler,
            error_model="numpy",
            nogil=True,
            no_cpython_wrapper=True,
            no_cfunc_wrapper=True,
        )(self.function)
        take_any_number(compiled)
        return compiled

    @property
    def _numba_type_(self) -> Any:
        """What kernels take it for."""
        return self.dispatcher._numba_type_

    def __reduce__(self) -> str | tuple[Any, ...]:
        """It goes by its name, as functions do: Numba compares what closures hold by that."""
        return _name_of(self) or (type(self), (self.function,))


def inner(function: Callable[P, R]) -> Callable[P, R]:
    """A kernel that only kernels call."""
    return cast("Callable[P, R]", InnerKernel(function))


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
        signature = normalize_signature(self.signature)
        compiled = CFunc(self.function, signature, locals={}, options={"error_model": "numpy"})
        _keep(compiled, self.function)
        compiled.compile()
        return compiled

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
        return _name_of(self) or (type(self), (self.signature, self.function))


class KernelCache(FunctionCache):  # type: ignore[misc]
    """Loads machine code without all that Numba can compile, which was a sixth of a start.

    What is not there is compiled, and Numba loads the rest before that.
    """

    def load_overload(self, signature: Any, context: Any) -> Any:
        rtsys.initialize(context)  # memory for arrays, which machine code asks for
        with self._guard_against_spurious_io_errors():
            return self._load_overload(signature, context)


def _keep(compiled: Any, function: Callable[..., Any]) -> None:
    """On disk, where that is safe."""
    if is_kept():
        compiled._cache = KernelCache(function)


def _name_of(made: InnerKernel | LazyFunction) -> str | None:
    """What its module calls it, if that is what the function in it is called."""
    name = made.function.__qualname__
    return name if getattr(sys.modules.get(made.__module__), name, None) is made else None
