"""What compiled code can ask of memory: to count for several threads, to come near beforehand."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from dovetail.compiled.functions import inner

LINE = 64
"""Bytes of a line of the cache."""


@intrinsic
def add_at_once(typing_context: Any, counts: Any, by: Any) -> Any:
    """Of kernels: add to the first of an array of whole numbers, and what it was before.

    No two threads see the same number.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(counts)(context, builder, arguments[0])
        more = context.cast(builder, arguments[1], signature.args[1], types.int64)
        return builder.atomic_rmw("add", array.data, more, "monotonic")

    return types.int64(counts, by), generate


@inner
def fetch(address: int, size: int) -> None:
    """Bring memory near that is read soon; nobody waits for it."""
    for at in range(address, address + size, LINE):
        _fetch_line(at)


@intrinsic
def _fetch_line(typing_context: Any, address: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        byte, word = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, word, word, word])
        function = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
        # to read, to be kept in every cache, data
        builder.call(function, [builder.inttoptr(arguments[0], byte), word(0), word(3), word(1)])
        return context.get_dummy_value()

    return types.void(types.int64), generate
