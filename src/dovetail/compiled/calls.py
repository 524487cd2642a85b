"""Calling a compiled function by its address, from kernels.

A kernel that takes compiled functions as arguments pays 75 µs for each of them when Python calls
it, since Numba works out their types anew; an address is a number and costs nothing. The function
gets pointers, and makes arrays or rows of them with `carray`.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic


@intrinsic
def call(typing_context: Any, address: Any, first: Any, second: Any, third: Any) -> Any:
    """Call a function without a result that takes three words: addresses or whole numbers."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word = ir.IntType(64)
        function = ir.FunctionType(ir.VoidType(), [word, word, word]).as_pointer()
        builder.call(builder.inttoptr(arguments[0], function), arguments[1:])
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64, types.int64), generate


@intrinsic
def number_from(typing_context: Any, address: Any, first: Any, second: Any) -> Any:
    """Call a function that takes two words and gives a number."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word = ir.IntType(64)
        function = ir.FunctionType(ir.DoubleType(), [word, word]).as_pointer()
        return builder.call(builder.inttoptr(arguments[0], function), arguments[1:])

    return types.float64(types.int64, types.int64, types.int64), generate
