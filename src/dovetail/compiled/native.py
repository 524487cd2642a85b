"""Arguments of a kernel, kept as compiled code has them, so that Python passes one address.

    Arguments = NamedTuple("Arguments", [("counts", Ints), ("table", Any), ("more", int)])
    ARGUMENTS = native_type(Arguments, table=types.int64[:, ::1])
    take = taker(ARGUMENTS)                     # at the top of a module, for its kernels

    @kernel
    def step(at: int) -> None:
        given = take(at)                        # a named tuple, as if it had been passed
        given.counts[0] += given.table[0, 1] + given.more

    kept = Kept(Arguments(np.zeros(3, np.int64), np.eye(2, dtype=np.int64), 2), ARGUMENTS)
    step(kept.address)                          # 0.3 µs

A tuple of twenty arrays costs 20 µs to hand over at every call, each compiled function in it 40 µs
more, since Numba works out its type anew.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_type_hints

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.registry import cpu_target
from numba.extending import intrinsic

from dovetail.compiled.arrays import Bools, Floats, Ints
from dovetail.compiled.functions import kernel

_TYPES: dict[Any, Any] = {
    int: types.int64,
    float: types.float64,
    bool: types.boolean,
    Ints: types.int64[::1],
    Floats: types.float64[::1],
    Bools: types.boolean[::1],
}


def native_type(given: type, **others: Any) -> Any:
    """The compiled type of a named tuple; `others` for fields that are not plain columns."""
    hints = get_type_hints(given)
    return types.NamedTuple(
        [others[name] if name in others else _TYPES[hint] for name, hint in hints.items()], given
    )


class Kept:
    """A tuple in memory of its own; it lives as long as this object, and so do its arrays."""

    def __init__(self, value: Any, kind: Any) -> None:
        self.value = value  # nothing else holds what the addresses point to
        context = cpu_target.target_context
        size = context.get_abi_sizeof(context.get_value_type(kind))
        self._memory = np.zeros(size // 8 + 2, np.int64)
        start: int = self._memory.ctypes.data
        self.address = start + -start % 16
        _keep(value, self.address)


def taker(kind: Any) -> Callable[[int], Any]:
    """A function for kernels: the tuple that is kept at an address."""

    @intrinsic
    def take(typing_context: Any, address: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            pointer = context.get_value_type(kind).as_pointer()
            return builder.load(builder.inttoptr(arguments[0], pointer))

        return kind(types.int64), generate

    found: Callable[[int], Any] = take
    return found


@kernel
def _keep(value: Any, address: int) -> None:
    _store(value, address)


@intrinsic
def _store(typing_context: Any, value: Any, address: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        lent = _lend(context, builder, value, arguments[0])
        builder.store(lent, builder.inttoptr(arguments[1], lent.type.as_pointer()))
        return context.get_dummy_value()

    return types.void(value, types.int64), generate


def _lend(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """The value without owners: compiled code must not count references to arrays of Python's."""
    if isinstance(kind, types.Array):
        array = context.make_array(kind)(context, builder, value)
        array.meminfo = ir.Constant(array.meminfo.type, None)
        array.parent = ir.Constant(array.parent.type, None)
        return array._getvalue()
    if isinstance(kind, types.BaseTuple):
        parts = [
            _lend(context, builder, part, builder.extract_value(value, i))
            for i, part in enumerate(kind.types)
        ]
        return context.make_tuple(builder, kind, parts)
    return value
