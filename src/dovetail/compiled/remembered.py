"""What Numba works out anew for every inner kernel, though it comes out the same: kept.

A plain simulation asks 6,100 times what a call of a built-in function means, such as the sum of two
whole numbers, and 300 of the questions differ: each goes through templates for arrays, dates and
literals before it is answered. With this, a first simulation compiles in four fifths of the time.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from numba import types
from numba.core import base, event
from numba.core.types.functions import BaseFunction


class Answers:
    """Answers of Numba, as long as the process lives; for inner kernels only.

    These are all compiled with the same flags, on which answers may depend.
    """

    def __init__(self) -> None:
        self._calls: dict[Any, tuple[Any, ...]] = {}
        self._sizes: dict[str, int] = {}
        self._words: dict[int, str] = {}
        self._find = BaseFunction.get_call_type
        self._measure = base.BaseContext.get_abi_sizeof
        self._describe = types.Record.__repr__
        self._active = False
        self._ours = (
            (BaseFunction, "get_call_type", self._call_type()),
            (base.BaseContext, "get_abi_sizeof", self._abi_size()),
            (types.Record, "__repr__", self._description()),
            (base, "_has_loc", cache(base._has_loc)),
            # Locks tell how long they were held, to each of fifteen callers under compilation.
            (event, "start_event", _tell_nobody),
            (event, "end_event", _tell_nobody),
        )

    @contextmanager
    def kept(self) -> Iterator[None]:
        """In this block, which holds Numba's lock for compilers, no question is answered twice."""
        if self._active:
            yield
            return
        before = [(place, name, getattr(place, name)) for place, name, _ in self._ours]
        collecting = gc.isenabled()
        gc.disable()  # most of what a compiler makes stays: looking for garbage was 7 % of the time
        self._active = True
        _set(self._ours)
        try:
            yield
        finally:
            _set(before)
            self._active = False
            if collecting:
                gc.enable()

    def _call_type(self) -> Any:
        """The signature of a call of a built-in function or an intrinsic."""

        def get_call_type(function: Any, context: Any, arguments: Any, keywords: Any) -> Any:
            named = tuple((name, kind._code) for name, kind in dict(keywords).items())
            key = (function._code, id(context), *(kind._code for kind in arguments), named)
            if key not in self._calls:
                found = self._find(function, context, arguments, keywords)
                # Types that nobody holds are forgotten, and their codes with them.
                held = function, context, arguments, keywords
                self._calls[key] = found, function.get_impl_key(found), held
            found, implementation, _ = self._calls[key]
            # Code that is not ours may have asked in between, with flags of its own.
            function._impl_keys[found.args] = implementation
            return found

        return get_call_type

    def _abi_size(self) -> Any:
        """How large a type is: Numba has LLVM read a module of one line to learn it."""

        def get_abi_sizeof(context: Any, kind: Any) -> int:
            words = str(kind)
            if words not in self._sizes:
                self._sizes[words] = self._measure(context, kind)
            return self._sizes[words]

        return get_abi_sizeof

    def _description(self) -> Any:
        """A row of a table in words: hundreds of columns, for a log that nobody reads."""

        def describe(record: Any) -> str:
            if record._code not in self._words:
                self._words[record._code] = self._describe(record)
            return self._words[record._code]

        return describe


def _tell_nobody(kind: str, data: Any = None, exc_details: Any = None) -> None:
    pass


def _set(attributes: Any) -> None:
    for place, name, value in attributes:
        setattr(place, name, value)


ANSWERS = Answers()
